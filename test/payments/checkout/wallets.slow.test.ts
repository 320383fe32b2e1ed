import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { text } from '../../lab/json.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { payButton, REJECTED, status, test } from './paid-page.ts';

test('a payer who declines in the wallet stays on the page and can still pay', async ({
  page,
  wallet,
  openCheckout,
  confirmed,
}) => {
  await openCheckout(page, { amount: '4000000' });

  wallet.refuse('eth_sendTransaction', REJECTED);
  await payButton(page).click();
  await page.getByText('You declined in the wallet').waitFor();
  expect(await status(page, 'waiting').count()).toBe(1);
  wallet.refuse('eth_sendTransaction', null);
  await payButton(page).click();
  await status(page, 'sent').waitFor();
  await confirmed();

  expect(wallet.asked.filter(method => method === 'personal_sign')).toHaveLength(1);
});

test('after a wallet error without a result, the page asks the payer to check the wallet before a retry', async ({
  page,
  wallet,
  openCheckout,
}) => {
  await openCheckout(page, { amount: '2100000' });

  wallet.refuse('eth_sendTransaction', { code: -32603, message: 'Connection lost.' });
  await payButton(page).click();

  await page.getByText('Connection lost.').waitFor();
  expect(await page.locator('#wallet-status').textContent()).toContain('check in your wallet');
});

test('a wallet on another network is switched, and nothing is sent when the switch fails', async ({
  page,
  wallet,
  chain,
  openCheckout,
  confirmed,
}) => {
  await openCheckout(page, { amount: '5000000' });

  wallet.chooseNetwork(1);
  wallet.refuse('wallet_switchEthereumChain', { code: 4902, message: 'Unrecognized chain ID.' });
  await payButton(page).click();
  await page.getByText(`does not know Test chain (network id ${chain.chainId})`).waitFor();
  expect(wallet.asked).not.toContain('eth_sendTransaction');
  wallet.refuse('wallet_switchEthereumChain', null);
  await payButton(page).click();
  await status(page, 'sent').waitFor();
  await confirmed();
});

test('an account with too little balance sees a message before anything is signed', async ({
  page,
  wallet,
  openCheckout,
}) => {
  await openCheckout(page, { amount: String(10n ** 40n) });

  await payButton(page).click();
  await page.getByText('This account holds').waitFor();

  expect(wallet.asked).not.toContain('personal_sign');
});

test('with several wallets the payer chooses one, and with none the page points to the QR code', async ({
  page,
  walletIn,
  openCheckout,
  confirmed,
}) => {
  await openCheckout(page, { amount: '6000000' });
  await page.getByText('No wallet was found in this browser').waitFor();
  expect(await payButton(page).isVisible()).toBe(false);

  await walletIn(page);
  await walletIn(page, 'Other Wallet');
  await page.reload();
  await payButton(page).click();
  await page.getByRole('button', { name: 'Other Wallet' }).click();
  await status(page, 'sent').waitFor();
  await confirmed();
});

test('a phone shows the way into its wallet apps first, and folds the QR code', async ({
  browser,
  createLink,
  post,
}) => {
  const link = await createLink({ name: 'Field notebooks', amount: '6100000' });
  const { body } = await post(`/pay/links/${link.shortCode}/sessions`, {});
  const { page, close } = await phone(browser);

  await page.goto(`${new URL(link.url).origin}/pay/s/${text(body.id)}`);

  const open = page.locator('#methods').getByRole('link').first();
  expect(await open.textContent()).toBe('Open in wallet');
  expect(await open.getAttribute('href')).toMatch(/^ethereum:0x[0-9a-fA-F]{40}@\d+\/transfer\?/);
  const names = ['MetaMask', 'Coinbase Wallet', 'Trust Wallet', 'Rainbow'];
  const hrefs = await Promise.all(names.map(name => page.getByRole('link', { name }).getAttribute('href')));
  expect(hrefs[0]).toContain(`/dapp/${new URL(link.url).host}/pay/s/${text(body.id)}`);
  for (const href of hrefs.slice(1)) expect(href).toContain(encodeURIComponent(`/pay/s/${text(body.id)}`));
  expect(await page.locator('#code > .qr').isVisible()).toBe(false);
  await page.getByRole('link', { name: 'Show the QR code' }).click();
  expect(await page.locator('#code > .qr').isVisible()).toBe(true);
  await close();
});

test('a desktop without a wallet shows address and QR code first, and one with a wallet its button', async ({
  page,
  walletIn,
  openCheckout,
}) => {
  await openCheckout(page, { amount: '6200000' });
  await page.getByText('No wallet was found in this browser').waitFor();
  const headings = () => page.locator('#methods h2:visible').allTextContents();
  expect(await headings()).toEqual(['Send it from anywhere', 'Pay with your wallet']);
  expect(await page.getByText('Open in wallet', { exact: true }).isVisible()).toBe(false);

  await walletIn(page);
  await page.reload();
  await payButton(page).waitFor();

  expect(await headings()).toEqual(['Pay with your wallet', 'Send it from anywhere']);
});

async function phone(browser: Browser) {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  return { page, close: () => context.close() };
}
