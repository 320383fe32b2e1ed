import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { record, text } from '../lab/json.ts';
import { test as base, REJECTED } from '../payments/checkout/paid-page.ts';

const DESTINATION = `0x${'D0'.repeat(20)}`;

const test = base
  /** Pays a checkout by its exact amount; returns its id. */
  .extend('paidCheckout', ({ service, openCheckout, payFromElsewhere }) => async (page: Page) => {
    const id = await openCheckout(page, { amount: '4000000' });
    const key = text(service.demoKey);
    const session = await fetch(`${service.url}/api/v1/checkout-sessions/${id}`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    await payFromElsewhere(BigInt(text(record(await session.json()).amount_due)));
    await page.locator('[data-state-name=paid]').waitFor();
    await page.request.post(`${service.url}/dashboard/session`, {
      data: { token: await demoSignIn(service) },
    });
    return id;
  });

test('a refund is requested on the page of its payment, sent by a wallet and followed to its completion', async ({
  page,
  service,
  chain,
  wallet,
  paidCheckout,
  complaints,
}) => {
  const id = await paidCheckout(page);
  await page.goto(`${service.url}/dashboard/payments/${id}`);

  await page.getByRole('link', { name: 'Refund', exact: true }).click();
  await page.getByLabel('Amount').fill('2.5');
  await page.getByLabel('Address', { exact: true }).fill(DESTINATION);
  await page.getByLabel('The same address, typed again').fill(`0x${'D1'.repeat(20)}`);
  await page.getByRole('button', { name: 'Create refund' }).click();
  await page.getByText('must be the same address').first().waitFor();
  await page.getByLabel('The same address, typed again').fill(DESTINATION);
  await page.getByLabel('Reason').fill('Broken on arrival');
  await page.getByRole('button', { name: 'Create refund' }).click();
  await page.getByRole('heading', { name: '2.5 USDS To be sent' }).waitFor();
  wallet.refuse('eth_sendTransaction', REJECTED);
  await page.getByRole('button', { name: 'Send with Sample Wallet' }).click();
  await page.getByText('You declined in the wallet').waitFor();
  wallet.refuse('eth_sendTransaction', null);
  await page.getByRole('button', { name: 'Send with Sample Wallet' }).click();
  await page.getByRole('heading', { name: '2.5 USDS Confirming' }).waitFor();
  await chain.mine(2);
  await page.getByRole('heading', { name: '2.5 USDS Completed' }).waitFor();

  await page.getByText('Broken on arrival').waitFor();
  await page.getByRole('main').getByText('Owner', { exact: true }).first().waitFor();
  await page.goto(`${service.url}/dashboard/payments/${id}`);
  await page.getByText('Refund completed').waitFor();
  await page.goto(`${service.url}/dashboard/refunds?session_id=${id}`);
  await page.getByRole('row').filter({ hasText: '2.5 USDS' }).getByText('Completed').waitFor();
  expect(wallet.asked.filter(method => method === 'eth_sendTransaction')).toHaveLength(2);
  // The refused form.
  expect(complaints.filter(one => !one.includes('400'))).toEqual([]);
});

test('a refund sent with another wallet completes by the hash that is typed, or is cancelled', async ({
  page,
  service,
  chain,
  paidCheckout,
}) => {
  const id = await paidCheckout(page);
  const begin = async (amount: string) => {
    await page.goto(`${service.url}/dashboard/refunds/new?session_id=${id}`);
    await page.getByLabel('Amount').fill(amount);
    await page.getByLabel('Address', { exact: true }).fill(DESTINATION);
    await page.getByLabel('The same address, typed again').fill(DESTINATION);
    await page.getByRole('button', { name: 'Create refund' }).click();
    await page.getByRole('heading', { name: `${amount} USDS To be sent` }).waitFor();
  };

  await begin('1');
  const hash = await chain.pay({ from: 2, to: DESTINATION.toLowerCase(), amount: 1_000_000n });
  await page.getByLabel('Hash of the transaction').fill(hash);
  await page.getByRole('button', { name: 'Name transaction' }).click();
  await page.getByRole('heading', { name: '1 USDS Confirming' }).waitFor();
  await chain.mine(2);
  await page.getByRole('heading', { name: '1 USDS Completed' }).waitFor();
  await begin('2');
  await page.getByRole('button', { name: 'Cancel refund' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel refund' }).click();

  await page.getByRole('heading', { name: '2 USDS Cancelled' }).waitFor();
});
