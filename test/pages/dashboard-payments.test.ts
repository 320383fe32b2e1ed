import { text as readAll } from 'node:stream/consumers';
import { expect } from 'vitest';
import { record, text } from '../support/json.ts';
import { test as signedIn } from './dashboard-page.ts';

const COIN = `0x${'0'.repeat(40)}`;
const SHOP = `0x${'5e'.repeat(20)}`;

const test = signedIn
  /** Opens a checkout; answers with its id. */
  .extend('checkout', ({ merchant }) => async (terms: object = {}): Promise<string> => {
    const place = { chain_id: 31_337, token_address: COIN, recipient_address: SHOP };
    const { body } = await merchant.post('/api/v1/checkout-sessions', {
      ...place,
      amount: '250000000000000000',
      ...terms,
    });
    return text(record(body).id);
  })
  .extend('simulate', ({ merchant }) => async (id: string, outcome: string): Promise<void> => {
    await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });
  });

test('payments page by cursor, and the filters are part of the address', async ({
  page,
  signIn,
  checkout,
  simulate,
  complaints,
}) => {
  for (let made = 0; made < 21; made++) await checkout({ clientReferenceId: `order-${made}` });
  const paid = await checkout({ clientReferenceId: 'order-paid' });
  await simulate(paid, 'completed');
  await signIn();

  const rows = page.getByRole('region', { name: 'Checkouts' }).locator('tbody tr');
  await rows.filter({ hasText: 'order-paid' }).getByText('0.25 ETH').waitFor();
  expect(await rows.count()).toBe(20);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await rows.nth(2).waitFor({ state: 'detached' });
  expect(await rows.count()).toBe(2);

  await page.getByLabel('Status').selectOption('Completed');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL('**/dashboard/payments?status=completed*');
  await rows.getByText('Completed').waitFor();
  expect(await rows.count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('transfers are exported as a file, with the filters of the page', async ({
  page,
  signIn,
  checkout,
  simulate,
}) => {
  const failing = await checkout();
  await simulate(failing, 'failed');
  await signIn();
  await page.goto('/dashboard/payments?tab=transfers&status=failed');

  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export (CSV)' }).click();
  const file = await download;

  expect(file.suggestedFilename()).toMatch(/\.csv$/);
  const content = await readAll(await file.createReadStream());
  expect(content.trim().split('\n')).toHaveLength(2);
  expect(content).toContain(failing);
});
