import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { record, text } from '../lab/json.ts';
import { test } from '../payments/checkout/paid-page.ts';

const SHOP = 5;

test('a payment on a chain is followed from detection over confirmations to completion, without a reload', async ({
  page,
  service,
  chain,
  openCheckout,
  complaints,
}) => {
  const id = await openCheckout(page, { amount: '4000000' });
  const key = text(service.demoKey);
  const session = await fetch(`${service.url}/api/v1/checkout-sessions/${id}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const amount = BigInt(text(record(await session.json()).amount_due));
  await page.request.post(`${service.url}/dashboard/session`, { data: { token: await demoSignIn(service) } });
  await page.goto(`${service.url}/dashboard/payments/${id}`);
  await page.getByRole('heading', { name: '4 USDS Open' }).waitFor();

  await chain.pay({ from: 1, to: text(chain.accounts[SHOP]), amount });
  await chain.mine();
  await page.getByRole('heading', { name: '4 USDS Confirming' }).waitFor();
  await page.getByRole('listitem').getByText('0 of 1 confirmation').first().waitFor();
  await chain.mine();

  await page.getByRole('heading', { name: '4 USDS Completed' }).waitFor();
  await page.getByText('matched by its exact amount').waitFor();
  const transaction = page.getByRole('list').getByRole('link', { name: /^0x/ }).first();
  expect(await transaction.getAttribute('href')).toMatch(/^https:\/\/explorer\.example\/tx\/0x[0-9a-f]{64}$/);
  expect(complaints).toEqual([]);
});
