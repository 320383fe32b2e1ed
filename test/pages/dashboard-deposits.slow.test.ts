import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { test } from '../payments/checkout/paid-page.ts';

const RECIPIENT = `0x${'d7'.repeat(20)}`;

test('the money of ended checkouts is swept by a wallet, and an open one is left', async ({
  page,
  service,
  chain,
  wallet,
  post,
  complaints,
}) => {
  const terms = { chain_id: chain.chainId, token_address: chain.token, recipient_address: RECIPIENT };
  const begin = async (amount: string) => {
    const { body } = await until(
      () => post('/checkout-sessions', { ...terms, amount, payment_method: 'deposit_address' }),
      answer => answer.body.deposit_address !== null,
    );
    return { id: text(body.id), address: text(body.deposit_address) };
  };
  const paid = await begin('2500000');
  const open = await begin('9000000');
  await chain.pay({ from: 2, to: paid.address, amount: 2_500_000n });
  await chain.pay({ from: 2, to: open.address, amount: 1_000_000n });
  await chain.mine(3);
  const token = await demoSignIn(service);
  await page.request.post(`${service.url}/dashboard/session`, { data: { token } });
  await page.goto(`${service.url}/dashboard/deposit-addresses`);
  const row = page.getByRole('row').filter({ hasText: '2.5 USDS' });
  await row.waitFor();

  await page.getByText('Nobody outside of the project has audited the contracts').waitFor();
  await page.getByRole('button', { name: 'Prepare a sweep of all' }).click();
  await page.getByText('Fee now, about').waitFor();
  await page.getByText('Transaction for another wallet').click();
  await page.getByRole('button', { name: 'Copy the data' }).waitFor();
  await page.getByRole('button', { name: 'Send with Sample Wallet' }).click();
  await page.getByText('Sent. The amounts change').waitFor();
  await chain.mine(3);
  await row.getByRole('cell', { name: '0 USDS', exact: true }).waitFor();

  expect(wallet.asked.filter(method => method === 'eth_sendTransaction')).toHaveLength(1);
  expect(await balanceOf(RECIPIENT)).toBe(2_500_000n);
  expect(await balanceOf(open.address)).toBe(1_000_000n);
  const { body: seed } = await get('/deposit-addresses/seed');
  expect(record(seed)).toMatchObject({ version: 1 });
  expect(complaints).toEqual([]);

  async function get(path: string) {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${service.demoKey}` },
    });
    return { body: await answer.json() };
  }

  async function balanceOf(holder: string): Promise<bigint> {
    const data = `0x70a08231${holder.slice(2).toLowerCase().padStart(64, '0')}`;
    return BigInt(String(await chain.call('eth_call', { to: chain.token, data }, 'latest')));
  }
});
