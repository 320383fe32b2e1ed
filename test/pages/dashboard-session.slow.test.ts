import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { record, text } from '../lab/json.ts';
import { test } from './dashboard-page.ts';

/** Signs another window of the same browser in with the token of a one-time address. */
async function signInElsewhere(other: Page, token: string): Promise<void> {
  await other.goto(`/dashboard/sign-in#token=${token}`);
  await other.getByRole('button', { name: 'Sign in by the link' }).click();
  await other.getByRole('heading', { name: 'Overview' }).waitFor();
}

test('a page stops and says so when another window signs in to another organization', async ({
  page,
  context,
  signIn,
  rivalToken,
  complaints,
}) => {
  await signIn();
  await page.goto('/dashboard');
  await page.getByRole('heading', { name: 'Open checkouts: 0' }).waitFor();

  await signInElsewhere(await context.newPage(), rivalToken);

  const cover = page.getByRole('dialog', { name: 'You are now signed in as Rival Records (Test)' });
  await cover.waitFor();
  await page.keyboard.press('Escape');
  expect(await cover.isVisible()).toBe(true);
  await cover.getByRole('button', { name: 'Continue as Rival Records' }).click();
  await page.getByRole('banner').getByText('Rival Records').waitFor();
  expect(complaints.filter(one => !one.includes('412'))).toEqual([]);
});

test('a page keeps working after a sign-in to the same organization in another window', async ({
  page,
  context,
  signIn,
  service,
}) => {
  await signIn();
  await page.goto('/dashboard/links/new');
  await page.getByLabel('Name', { exact: true }).fill('Field notebooks');
  await page.getByLabel('Amount', { exact: true }).fill('0.25');

  await signInElsewhere(await context.newPage(), await demoSignIn(service));

  await page.getByRole('button', { name: 'Create link' }).click();
  await page.waitForURL('**/dashboard/links/pl_*');
});

test.for([['refunds'], ['customers'], ['totals']] as const)(
  'a download of %s from a page whose session was replaced saves nothing',
  async ([name], { page, context, signIn, rivalToken, merchant }) => {
    // Without a payment there are no totals, and without an address no customers.
    const { body } = await merchant.post('/api/v1/payment-links', { name: 'Tea', amount: '7000000' });
    const payer = { payment_link_id: record(body).id, customerEmail: 'ada@example.com' };
    const opened = await merchant.post('/api/v1/checkout-sessions', payer);
    const outcome = { outcome: 'completed' };
    await merchant.post(`/api/v1/test/sessions/${text(record(opened.body).id)}/simulate`, outcome);
    await signIn();
    await page.goto(`/dashboard/${name}`);
    const link = page.getByRole('link', { name: 'Export (CSV)' });
    const downloaded = page.waitForEvent('download');
    await link.click();
    expect((await downloaded).suggestedFilename()).toBe(`${name}.csv`);

    const files: string[] = [];
    page.on('download', file => files.push(file.url()));
    await signInElsewhere(await context.newPage(), rivalToken);
    await link.click();

    await page.getByRole('dialog', { name: 'You are now signed in as Rival Records (Test)' }).waitFor();
    expect(files).toEqual([]);
  },
);

test('the overview is one request, and 20 quick views are no event', async ({ page, signIn, merchant }) => {
  await signIn();
  await page.goto('about:blank');
  const asked: string[] = [];
  const refused: string[] = [];
  page.on('response', response => {
    const { pathname } = new URL(response.url());
    if (!/^\/dashboard\/(?:api|session|overview|qr-code)/.test(pathname)) return;
    asked.push(pathname);
    if (response.status() >= 400) refused.push(`${response.status()} ${pathname}`);
  });
  await page.goto('/dashboard');
  await page.getByRole('heading', { name: 'Conversion of links' }).waitFor();
  expect(asked).toEqual(['/dashboard/session', '/dashboard/overview']);

  for (let view = 0; view < 20; view++) {
    await page.goto(
      ['/dashboard', '/dashboard/payments', '/dashboard/links', '/dashboard/webhooks'][view % 4] ?? '',
    );
    await page.getByRole('heading', { level: 1 }).waitFor();
  }

  expect(refused).toEqual([]);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect((await merchant.get('/api/v1/payment-links')).status).toBe(200);
});

test('a refusal for too many requests is waited out without a word', async ({ page, signIn }) => {
  await signIn();
  let refusals = 0;
  await page.route('**/dashboard/overview?*', async route => {
    if (refusals++ > 0) return route.continue();
    const error = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Rate limit exceeded.' };
    await route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: { error } });
  });

  await page.goto('/dashboard');

  await page.getByRole('heading', { name: 'Conversion of links' }).waitFor();
  expect(refusals).toBeGreaterThan(1);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('signing out everywhere asks first', async ({ page, signIn, service }) => {
  await signIn();
  await page.getByText('Demo shop').click();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign out everywhere' });

  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(page.url()).toBe(`${service.url}/dashboard/payments`);
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await dialog.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.waitForURL('**/dashboard/sign-in');
});
