import { expect } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { until } from '../../lab/until.ts';
import { test } from './paid-page.ts';

const ADDRESS = `0x${'d0'.repeat(20)}`;

test('the payer of a late payment signs for a refund address, which the merchant sees as proved', async ({
  page,
  chain,
  service,
  wallet,
  post,
  openCheckout,
  payFromElsewhere,
  complaints,
}) => {
  const id = await openCheckout(page, { amount: '4000000' });
  const asked = async (path: string) => {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      headers: { Authorization: `Bearer ${text(service.demoKey)}` },
    });
    return record(await answer.json());
  };
  const { amount_due } = await asked(`/checkout-sessions/${id}`);
  await post(`/checkout-sessions/${id}/expire`, {});
  await payFromElsewhere(BigInt(text(amount_due)));
  await until(
    async () => {
      await chain.mine(1);
      return asked(`/checkout-sessions/${id}`);
    },
    ({ outcome }) => outcome === 'paid_late',
  );
  await page.reload();
  await page.locator('[data-state-name=paid_late]').waitFor();

  await page.getByText('Where should a refund go?').click();
  await page.getByLabel('Your address').fill(ADDRESS);
  await page.getByRole('button', { name: 'Sign with Sample Wallet' }).click();
  await page.getByText('Your address is stated.').waitFor();

  await page.getByText(`Stated: ${ADDRESS}, signed by your wallet`).waitFor();
  expect(wallet.asked).toContain('personal_sign');
  expect(await asked(`/refunds/options?session_id=${id}`)).toMatchObject({
    destinations: [{ address: ADDRESS, source: 'payer_signature', proved: true }, { source: 'sender' }],
  });
  expect(complaints).toEqual([]);
});
