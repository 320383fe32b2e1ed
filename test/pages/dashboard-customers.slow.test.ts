import { expect } from 'vitest';
import { record, text } from '../lab/json.ts';
import { test as signedIn } from './dashboard-page.ts';

const COIN = `0x${'0'.repeat(40)}`;
const SHOP = `0x${'5e'.repeat(20)}`;

const test = signedIn
  /** Sells to a payer; returns the checkout. */
  .extend('sell', ({ merchant }) => async (payer: object): Promise<Record<string, unknown>> => {
    const place = { chain_id: 31_337, token_address: COIN, recipient_address: SHOP };
    const terms = { ...place, amount: '250000000000000000', ...payer };
    const { body } = await merchant.post('/api/v1/checkout-sessions', terms);
    const id = text(record(body).id);
    return record(
      (await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'completed' })).body,
    );
  });

test('a customer is found by email address, and leads to what was bought', async ({
  page,
  signIn,
  sell,
  complaints,
}) => {
  const session = await sell({ customerEmail: 'ada@example.com', customerName: 'Ada Lovelace' });
  await sell({ customerEmail: 'bob@example.com', customerName: 'Bob' });
  await signIn('support');
  await page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: 'Customers' }).click();

  const rows = page.getByRole('region', { name: 'Customers' }).locator('tbody tr');
  await rows.filter({ hasText: 'Bob' }).waitFor();
  await page.getByLabel('Search').fill('ADA@example.com');
  await page.getByLabel('Search').press('Enter');
  await page.waitForURL('**/dashboard/customers?*query=ADA*');
  await rows.filter({ hasText: '1 of 1' }).filter({ hasText: '0.25' }).waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByRole('link', { name: 'Ada Lovelace' }).click();
  await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
  const bought = page.getByRole('region', { name: 'Checkouts' });
  await bought.getByText('Completed').waitFor();
  expect(await page.getByRole('button', { name: 'Erase…' }).count()).toBe(0);
  await bought
    .locator(`a[href="/dashboard/payments/${text(session.id)}"]`)
    .first()
    .click();
  await page.getByRole('link', { name: text(session.customer_id).slice(0, 8) }).waitFor();
  expect(complaints).toEqual([]);
});

test('erasing asks, and takes the name from the payments', async ({ page, signIn, sell, complaints }) => {
  const session = await sell({ customerEmail: 'eve@example.com', customerName: 'Eve Passing' });
  await signIn('developer');
  await page.goto(`/dashboard/customers/${text(session.customer_id)}`);

  await page.getByRole('button', { name: 'Erase…' }).click();
  await page
    .getByRole('dialog', { name: 'Erase this customer?' })
    .getByRole('button', { name: 'Erase' })
    .click();
  await page.waitForURL('**/dashboard/customers');
  await page.goto(`/dashboard/payments/${text(session.id)}`);

  await page.getByText('No details of the payer and no metadata.').waitFor();
  expect(await page.getByText('Eve Passing').count()).toBe(0);
  expect(complaints).toEqual([]);
});
