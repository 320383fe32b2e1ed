import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { demoSignIn } from '../../lab/dashboard-session.ts';
import { list, record, text } from '../../lab/json.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { deploySteps } from '../../lab/sending-contract.ts';
import { until } from '../../lab/until.ts';
import { payButton, test as payTest, REJECTED, status } from './paid-page.ts';

/** Accounts without a wallet in the page. */
const PLAIN = 7;
const OTHER = 8;

const test = payTest
  /** Resolves once the chain offers deposit addresses. */
  .extend('offered', { scope: 'file' }, async ({ service }) => {
    const headers = { Authorization: `Bearer ${service.demoKey}` };
    const answer = async () => (await fetch(`${service.url}/api/v1/chains`, { headers })).text();
    await until(answer, text => text.includes('deposit_address"'));
  })
  /** Opens a checkout with a deposit address; returns its id and the address that the page shows. */
  .extend('openDeposit', ({ openCheckout, offered: _ }) => async (page: Page, link: object) => {
    const id = await openCheckout(page, { payment_method: 'deposit_address', ...link });
    return { id, address: `${await shownAddress(page).textContent()}` };
  })
  .extend(
    'settled',
    ({ chain }) =>
      () =>
        chain.mine(2),
  );

const shownAddress = (page: Page) => page.locator('.fact', { hasText: 'To address' }).locator('code');

test('a wallet pays the price straight to the deposit address, without a signature', async ({
  page,
  complaints,
  wallet,
  openDeposit,
  chain,
  confirmed,
}) => {
  const { address } = await openDeposit(page, { amount: '12500000' });

  await payButton(page).click();
  await status(page, 'sent').waitFor();
  await confirmed();

  const receipt = page.getByRole('region', { name: 'Receipt' });
  expect(await receipt.getByText(address).count()).toBe(1);
  expect(await receipt.getByText(`${chain.accounts[1]}`).count()).toBe(1);
  expect(wallet.asked.filter(method => /request|sign|send/i.test(method))).toEqual([
    'eth_requestAccounts',
    'eth_sendTransaction',
  ]);
  expect(complaints).toEqual([]);
});

test('two accounts pay a price in two parts, and a third payment is shown as too much', async ({
  page,
  complaints,
  openDeposit,
  chain,
  settled,
}) => {
  const { address } = await openDeposit(page, { amount: '8000000' });
  await page.getByText('Any amount counts, in one or several parts.').waitFor();

  await chain.pay({ from: PLAIN, to: address, amount: 3_000_000n });
  await settled();
  await page.getByRole('heading', { name: '5 USDS still to pay' }).waitFor();
  const asked = await page.locator('.amount').first().textContent();
  const again = await shownAddress(page).textContent();
  await chain.pay({ from: OTHER, to: address, amount: 5_000_000n });
  await settled();
  await status(page, 'paid').waitFor();
  await chain.pay({ from: PLAIN, to: address, amount: 1_000_000n });
  await settled();
  const second = page.getByRole('heading', { name: 'Paid. 1 USDS too much' });
  await expect.poll(async () => (await page.reload()) && second.count()).toBe(1);

  expect([asked, again]).toEqual(['5', address]);
  expect(complaints).toEqual([]);
});

test('a wallet pays what is missing after a part that came from elsewhere', async ({
  page,
  wallet,
  openDeposit,
  chain,
  settled,
  confirmed,
}) => {
  const { address } = await openDeposit(page, { amount: '8000000' });
  wallet.refuse('eth_sendTransaction', REJECTED);
  await payButton(page).click();
  await page.getByText('You declined in the wallet').waitFor();
  wallet.refuse('eth_sendTransaction', null);

  await chain.pay({ from: PLAIN, to: address, amount: 7_250_000n });
  await settled();
  await page.getByRole('button', { name: 'Pay 0.75 USDS' }).click();
  await page.getByText('Sent. You may close this page.').waitFor();
  await confirmed();

  expect(await page.getByRole('region', { name: 'Receipt' }).getByText('Too much').count()).toBe(0);
});

test('coins that a contract sends pay the checkout', async ({ page, openDeposit, chain, settled }) => {
  const amount = 10n ** 15n;
  const { address } = await openDeposit(page, { token_address: NATIVE_COIN, amount: `${amount}` });
  const contract = await deploySteps(chain, [{ kind: 'call', to: addressOf(address), value: amount }]);

  await chain.send({ from: PLAIN, to: contract, value: amount, gas: 300_000n });
  await settled();

  await status(page, 'paid').waitFor();
});

test('a payment after the end is shown as late, however small', async ({
  page,
  openDeposit,
  chain,
  settled,
  post,
}) => {
  const { id, address } = await openDeposit(page, { amount: '2400000' });
  await post(`/checkout-sessions/${id}/expire`, {});
  await status(page, 'expired').waitFor();

  await chain.pay({ from: PLAIN, to: address, amount: 2_400_000n });
  await settled();

  await status(page, 'paid_late').waitFor();
});

test('on a screen of 320 pixels all can be reached by keyboard, and the address is copied whole', async ({
  browser,
  openDeposit,
}) => {
  const context = await browser.newContext({
    viewport: { width: 320, height: 640 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const { address } = await openDeposit(page, { amount: '2500000' });
  const copy = page.getByRole('button', { name: 'Copy address' });
  await copy.waitFor();
  const names: string[] = [];
  const focused = 'document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()';

  while (!names.includes('Your wallet cannot read this code?') && names.length < 30) {
    await page.keyboard.press('Tab');
    names.push(String(await page.evaluate(focused)));
    if (names.at(-1) === 'Copy address') await page.keyboard.press('Enter');
    if (names.at(-1) === 'You want to choose the amount yourself?') await page.keyboard.press('Enter');
  }

  expect(names).toEqual(
    expect.arrayContaining([
      'Copy amount',
      'Open in a wallet app',
      'Copy address',
      'Copy contract',
      'Copy payment link',
      'Open in a wallet app without an amount',
    ]),
  );
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(address);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  await context.close();
});

test('without scripts a page shows the address and the codes, and follows the payment', async ({
  browser,
  openDeposit,
  chain,
  settled,
}) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const { address } = await openDeposit(page, { amount: '2500000' });
  const codes = await page.locator('.qr:visible').count();
  await page.getByText('You want to choose the amount yourself?').click();
  const more = await page.locator('.qr:visible').count();

  await chain.pay({ from: PLAIN, to: address, amount: 2_500_000n });
  await settled();
  await expect.poll(async () => (await page.reload()) && status(page, 'paid').count()).toBe(1);

  expect([codes, more]).toEqual([1, 2]);
  await context.close();
});

test('a merchant chooses deposit addresses for a link, reads what that means, and sees the address of a checkout', async ({
  page,
  service,
  post,
  complaints,
  offered: _,
}) => {
  const token = await demoSignIn(service);
  await page.goto(`${service.url}/dashboard/sign-in?to=/dashboard/links/new#token=${token}`);
  const method = page.getByLabel('Payment method');
  await method.waitFor();
  const before = await method.inputValue();

  await page.getByLabel('Name', { exact: true }).fill('By address');
  await page.getByLabel('Amount', { exact: true }).fill('2.5');
  await method.selectOption('Deposit address');
  await page.getByText('the recipient, which is fixed in it for ever').waitFor();
  await page.getByText('Nobody outside of the project has audited its contracts.').waitFor();
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByRole('heading', { name: 'By address Active' }).waitFor();

  expect(before).toBe('exact_amount');
  expect(await page.getByText('Deposit address', { exact: true }).count()).toBe(1);
  const headers = { Authorization: `Bearer ${service.demoKey}` };
  const links = await (
    await fetch(`${service.url}/api/v1/payment-links?search=By%20address`, { headers })
  ).json();
  expect(list(record(links).data)).toMatchObject([{ payment_method: 'deposit_address', amount: '2500000' }]);

  const { body } = await post('/checkout-sessions', {
    payment_link_id: text(record(list(record(links).data)[0]).id),
  });
  await page.goto(`${service.url}/dashboard/payments/${text(body.id)}`);
  await page.getByTitle(text(body.deposit_address), { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});
