import { expect } from 'vitest';
import { text } from '../lab/json.ts';
import { test } from './dashboard-page.ts';

test('a page without a session redirects to sign-in, and back after it', async ({ page, service }) => {
  await page.goto('/dashboard/payments?status=completed');
  await page.getByLabel('API key').fill('tg_test_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('key_invalid').waitFor();
  await page.getByLabel('API key').fill(text(service.demoKey));
  await page.getByRole('button', { name: 'Sign in' }).click();

  await page.getByRole('heading', { name: 'Payments' }).waitFor();
  expect(page.url()).toBe(`${service.url}/dashboard/payments?status=completed`);
  expect(await page.getByText('Demo shop').count()).toBe(1);
});

test('after sign-in nothing in the browser contains the key', async ({ page, signIn, service, context }) => {
  await signIn();

  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
  );
  expect(kept).not.toContain(service.demoKey);
  expect(JSON.stringify(await context.cookies())).not.toContain(service.demoKey);
});

test('a one-time address opens the dashboard, and its token is removed from the address bar', async ({
  page,
  service,
}) => {
  const address = text(service.dashboardUrl);

  await page.goto(address);
  await page.getByText('Demo shop').waitFor();
  expect(page.url()).toBe(`${service.url}/dashboard`);

  await page.goto('/dashboard/sign-in');
  await page.goto(address);
  await page.getByText('Demo shop').waitFor();
});

test('sign-in never redirects to another site', async ({ page, service }) => {
  for (const to of [
    'https://elsewhere.example/dashboard',
    '//elsewhere.example',
    '/pay/x',
    'javascript:alert(1)',
  ]) {
    await page.goto(`/dashboard/sign-in?${new URLSearchParams({ to })}`);
    await page.getByLabel('API key').fill(text(service.demoKey));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${service.url}/dashboard`);
  }
});

test('signing out everywhere redirects a second window to sign-in', async ({
  page,
  context,
  signIn,
  complaints,
}) => {
  await signIn();
  const other = await context.newPage();
  await other.goto('/dashboard/payments');
  await other.getByText('Demo shop').waitFor();

  await page.getByText('Demo shop').click();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();

  await page.waitForURL('**/dashboard/sign-in');
  await other.waitForURL('**/dashboard/sign-in?*');
  expect(complaints).toEqual([]);
});

test('a read key does not see the page of keys, which it may not read', async ({ page, signIn, keyOf }) => {
  const pages = page.getByRole('navigation', { name: 'Dashboard' });

  await signIn();
  expect(await pages.getByRole('link', { name: 'Keys' }).count()).toBe(1);
  await signIn(await keyOf('read'));

  expect(await pages.getByRole('link', { name: 'Events' }).count()).toBe(1);
  expect(await pages.getByRole('link', { name: 'Keys' }).count()).toBe(0);
});

test('an unknown address below the dashboard is a 404 with a link to the overview', async ({
  page,
  signIn,
  service,
}) => {
  await signIn();

  const response = await page.goto('/dashboard/nowhere');

  expect(response?.status()).toBe(404);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const path of ['/dashboard/links/nowhere', '/dashboard/payments/', '/dashboard/sessions']) {
    const missing = await fetch(`${service.url}${path}`);
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  }
});

test('operations below the dashboard, including unknown ones, answer in JSON', async ({ service }) => {
  const statuses: Record<string, number> = {
    '/dashboard/session': 401,
    '/dashboard/qr-code': 404,
    '/dashboard/api/v1/nowhere': 404,
    '/dashboard/api': 404,
  };

  for (const [path, status] of Object.entries(statuses)) {
    const answer = await fetch(`${service.url}${path}`);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      path,
      status,
      'application/json; charset=utf-8',
    ]);
  }
});
