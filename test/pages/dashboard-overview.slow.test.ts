import { expect } from 'vitest';
import { record, text } from '../lab/json.ts';
import { test } from './dashboard-page.ts';

const COIN = `0x${'0'.repeat(40)}`;
const SHOP = `0x${'5e'.repeat(20)}`;

test('the overview shows completed payments, and current ones without a reload', async ({
  page,
  signIn,
  merchant,
  complaints,
}) => {
  const checkout = async (amount: string) => {
    const terms = { chain_id: 31_337, token_address: COIN, recipient_address: SHOP, amount };
    return text(record((await merchant.post('/api/v1/checkout-sessions', terms)).body).id);
  };
  const expired = await checkout('1000000000000000000');
  await merchant.post(`/api/v1/checkout-sessions/${expired}/expire`, {});
  const paid = await checkout('2000000000000000000');
  await merchant.post(`/api/v1/test/sessions/${paid}/simulate`, { outcome: 'completed' });
  const { amount_received } = record((await merchant.get(`/api/v1/checkout-sessions/${paid}`)).body);
  await signIn();
  await page.goto('/dashboard?period=7d');

  await page.getByText('1 paid').waitFor();
  await page.getByText('50.0 %').first().waitFor();
  await page.getByText('No open checkouts.').waitFor();
  await page.getByText('Every transfer is matched to a checkout.').waitFor();
  await page.locator('.uplot').first().waitFor();
  expect(await page.locator('.u-legend').first().innerText()).not.toContain('–');
  await page.getByText('Volume per day in ETH as a table').click();
  const exact = `2.${text(amount_received).slice(1).replace(/0+$/, '')}`.replace(/\.$/, '');
  await page
    .getByRole('region', { name: 'volume per day in ETH' })
    .getByText(exact, { exact: true })
    .waitFor();

  await checkout('3000000000000000000');
  await page.getByRole('heading', { name: 'Open checkouts: 1' }).waitFor();
  await page.getByRole('link', { name: '3 ETH' }).waitFor();
  expect(complaints).toEqual([]);
});
