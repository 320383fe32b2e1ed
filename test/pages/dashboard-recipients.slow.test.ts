import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { demoSignIn } from '../lab/dashboard-session.ts';
import { text } from '../lab/json.ts';
import { test as base, REJECTED } from '../payments/checkout/paid-page.ts';

/** No account of the wallet. */
const TREASURY = `0x${'7e'.repeat(20)}`;

/** `test` that names an address as a recipient and opens the dialog to verify it. */
const test = base.extend('openDialog', ({ service, chain, post }) => async (page: Page, address: string) => {
  const { status } = await post('/recipients', { chain_id: chain.chainId, address });
  expect(status).toBe(201);
  const token = await demoSignIn(service);
  await page.request.post(`${service.url}/dashboard/session`, { data: { token } });
  await page.goto(`${service.url}/dashboard/organization`);
  const row = page.getByRole('row').filter({ has: page.getByTitle(address.toLowerCase()) });
  await row.getByRole('button', { name: 'Verify' }).click();
  return { row, dialog: row.getByRole('dialog') };
});

test('a recipient is proven by its wallet, after one that declined', async ({
  page,
  chain,
  wallet,
  openDialog,
  complaints,
}) => {
  const { row, dialog } = await openDialog(page, text(chain.accounts[1]));
  const sign = dialog.getByRole('button', { name: 'Sign with Sample Wallet' });

  wallet.refuse('personal_sign', REJECTED);
  await sign.click();
  await dialog.getByText('You declined in the wallet').waitFor();
  wallet.refuse('personal_sign', null);
  await sign.click();
  await row.getByText('Verified by signature').waitFor();
  await page.getByRole('status').getByText('The address is verified.').waitFor();

  expect(wallet.asked.filter(method => method === 'personal_sign')).toHaveLength(2);
  expect(wallet.asked).not.toContain('eth_sendTransaction');
  expect(complaints).toEqual([]);
});

test('a wallet with another account is not asked to sign, and learns which one can', async ({
  page,
  chain,
  wallet,
  openDialog,
}) => {
  const { dialog } = await openDialog(page, TREASURY);

  await dialog.getByRole('button', { name: 'Sign with Sample Wallet' }).click();

  await dialog
    .getByText(
      `Your wallet connected the account ${text(chain.accounts[1])}. Only ${TREASURY} can sign: connect it in the wallet and try again.`,
    )
    .waitFor();
  expect(wallet.asked).not.toContain('personal_sign');
});

test('a browser without a wallet says so, and names the command', async ({ page, openDialog }) => {
  const { dialog } = await openDialog(page, `0x${'8e'.repeat(20)}`);

  await dialog.getByText('No wallet was found in this browser.').waitFor();

  await dialog.getByText('cast wallet sign').waitFor();
});
