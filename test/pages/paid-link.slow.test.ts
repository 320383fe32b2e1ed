import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { text } from '../lab/json.ts';
import { test as paid, payButton, started, status } from '../payments/checkout/paid-page.ts';
import { complaintsOf, makeBrisk } from '../support/browser.ts';

const test = paid
  /** A separate browser page with the dashboard, signed in as the merchant. */
  .extend('dashboard', async ({ browser, service }, { onCleanup }): Promise<Page> => {
    const page = await browser.newPage({ baseURL: service.url });
    onCleanup(() => page.close());
    await makeBrisk(page);
    await page.request.post('/dashboard/session', { data: { token: await demoSignIn(service) } });
    return page;
  })
  .extend('complaintsOfDashboard', ({ dashboard }) => complaintsOf(dashboard));

const loadedAt = (page: Page) => page.evaluate(() => performance.timeOrigin);

test('a link created in the dashboard is paid by a wallet, and the payment completes there without a reload', async ({
  dashboard,
  page: payer,
  wallet,
  complaints,
  complaintsOfDashboard,
  confirmed,
}) => {
  await dashboard.goto('/dashboard/links/new');
  await dashboard.getByLabel('Name', { exact: true }).fill('Field notebooks');
  await dashboard.getByLabel('Amount', { exact: true }).fill('12.5');
  await dashboard.getByRole('button', { name: 'Create link' }).click();
  await dashboard.getByRole('heading', { name: 'Field notebooks Active' }).waitFor();
  const address = await dashboard.getByRole('link', { name: /\/pay\// }).getAttribute('href');
  await dashboard.goto('/dashboard/payments');
  await dashboard.getByText('No checkouts yet.').waitFor();
  const loaded = await loadedAt(dashboard);

  await payer.goto(text(address));
  await payer.getByRole('button', { name: 'Continue to payment' }).click();
  await started(payer);
  const row = dashboard.getByRole('region', { name: 'Checkouts' }).locator('tbody tr');
  await row.getByText('Open', { exact: true }).waitFor();
  await payButton(payer).click();
  await status(payer, 'sent').waitFor();
  await confirmed();
  await row.getByText('Completed', { exact: true }).waitFor();
  expect(await loadedAt(dashboard)).toBe(loaded);

  await row.getByRole('link', { name: '12.5 USDS' }).click();
  await dashboard.getByRole('heading', { name: '12.5 USDS Completed' }).waitFor();
  expect(wallet.asked).toContain('eth_sendTransaction');
  expect([...complaints, ...complaintsOfDashboard]).toEqual([]);
});
