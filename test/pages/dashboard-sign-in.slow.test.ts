import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { test } from './dashboard-page.ts';

test('a page without a session redirects to sign-in, and back after it', async ({ page, service }) => {
  await page.goto('/dashboard/payments?status=completed');
  await page.getByRole('textbox', { name: 'E-mail' }).waitFor();
  const signIn = page.url();

  await page.goto(`${signIn}#token=wrong`);
  await page.reload();
  await page.getByRole('alert').getByText('used before or has expired').waitFor();
  await page.goto('about:blank');
  await page.goto(`${signIn}#token=${await demoSignIn(service)}`);

  await page.getByRole('heading', { name: 'Payments' }).waitFor();
  expect(page.url()).toBe(`${service.url}/dashboard/payments?status=completed`);
  expect(await page.getByText('Demo shop').count()).toBe(1);
});

test('a one-time address opens the dashboard, and its token is removed from the address bar', async ({
  page,
  service,
}) => {
  const address = `${service.url}/dashboard#token=${await demoSignIn(service)}`;

  await page.goto(address);
  await page.getByText('Demo shop').waitFor();
  expect(page.url()).toBe(`${service.url}/dashboard`);

  await page.goto('/dashboard/sign-in');
  await page.goto(address);
  await page.getByRole('button', { name: 'Sign in by the link' }).click(); // it was used before
  await page.getByText('Demo shop').waitFor();
});

test('a one-time address asks before it replaces a session, which ends nothing unless one agrees', async ({
  page,
  signIn,
  rivalToken,
  service,
}) => {
  await signIn();
  await page.goto('about:blank');
  await page.goto(`/dashboard#token=${rivalToken}`);
  await page.getByText('You are signed in as').waitFor();
  await page.getByRole('link', { name: 'Stay signed in' }).click();
  await page.getByRole('banner').getByText('Demo shop').waitFor();

  await page.goto('about:blank');
  await page.goto(`${service.url}/dashboard#token=${rivalToken}`);
  await page.getByRole('button', { name: 'Sign in by the link' }).click();
  await page.getByRole('banner').getByText('Rival Records').waitFor();
});

test('sign-in never redirects to another site', async ({ page, context, service }) => {
  for (const to of [
    'https://elsewhere.example/dashboard',
    '//elsewhere.example',
    '/pay/x',
    'javascript:alert(1)',
  ]) {
    await page.goto('about:blank');
    await context.clearCookies();
    await page.goto(`/dashboard/sign-in?${new URLSearchParams({ to })}#token=${await demoSignIn(service)}`);
    await page.waitForURL(`${service.url}/dashboard`);
  }
});

test('signing out everywhere redirects a second window to sign-in', async ({
  page,
  context,
  signIn,
  complaints,
}) => {
  await signIn('support');
  const other = await context.newPage();
  await other.goto('/dashboard/payments');
  await other.getByText('Demo shop').waitFor();

  await page.getByText('Demo shop').click();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();

  await page.waitForURL('**/dashboard/sign-in');
  await other.waitForURL('**/dashboard/sign-in?*');
  expect(complaints).toEqual([]);
});

test('a member who may only view does not see the page of keys', async ({ page, signIn }) => {
  const pages = page.getByRole('navigation', { name: 'Dashboard' });

  await signIn();
  expect(await pages.getByRole('link', { name: 'Keys' }).count()).toBe(1);
  await signIn('read_only');

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
  for (const path of ['/dashboard/links/nowhere', '/dashboard/payments/', '/dashboard/nothing']) {
    const missing = await fetch(`${service.url}${path}`);
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  }
});

test('operations below the dashboard, including unknown ones, answer in JSON', async ({ service }) => {
  const statuses: Record<string, number> = {
    '/dashboard/session': 401,
    '/dashboard/sessions': 401,
    '/dashboard/members': 401,
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
