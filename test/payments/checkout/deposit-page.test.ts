import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { type ServedPages, servePages } from '../../support/checkout-pages.ts';

const PAYER = `0x${'3c'.repeat(20)}`;
const HASH = `0x${'4f'.repeat(32)}`;
const PART = {
  paymentStatus: 'underpaid',
  amountReceived: 2_000_000n,
  payerAddress: PAYER,
  txHash: HASH,
} as const;
const ENDED = { status: 'expired', isLate: true, txHash: HASH } as const;
const PAID = {
  status: 'completed',
  paymentStatus: 'paid',
  amountReceived: 2_500_000n,
  txHash: HASH,
} as const;

let pages: ServedPages;
beforeAll(async () => {
  pages = await servePages();
});
afterAll(() => pages[Symbol.asyncDispose]());

/** The page of a session with a deposit address, as a payer reads it, and its address with the checksum. */
async function shown(changes: Partial<CheckoutSession> = {}, terms: Partial<PaymentLink> = {}) {
  await pages.looked();
  const link = await pages.link({ paymentMethod: 'deposit_address', ...terms });
  const session = await pages.session(link, {}, changes);
  const { text } = await pages.get(`/pay/s/${session.id}`);
  const page = text.replace(/data-page="[^"]*"/, '').replaceAll('&amp;', '&');
  const address = getAddress(`${session.depositAddress}`);
  return { page, link, address, at: `${session.tokenAddress}@${session.chainId}` };
}

/** Requests of the page, each once: the link into a wallet app has that of the first code. */
const hrefs = (page: string) => [
  ...new Set([...page.matchAll(/href="(ethereum:[^"]*)"/g)].map(([, uri]) => uri)),
];

test('a page shows the deposit address with its checksum, and requests with and without the price', async () => {
  const { page, link, address, at } = await shown();

  expect(page).toContain(`<dt>To address</dt><dd><code>${address}</code>`);
  expect(page.toLowerCase()).not.toContain(link.recipientAddress);
  expect(page).toContain('Any amount counts, in one or several parts.');
  expect(page).toContain('and can only pay Corner Books');
  expect(page).toContain('Only on Local network.');
  expect(page).toContain('<strong class="amount">2.5</strong> <span>USDC</span>');
  expect(hrefs(page)).toEqual([
    `ethereum:${at}/transfer?address=${address}&uint256=2500000`,
    `ethereum:${at}/transfer?address=${address}`,
  ]);
  expect(page).toContain(`aria-label="QR code for wallets: send 2.5 USDC on Local network to ${address}"`);
  expect(page).toContain(`aria-label="QR code of the address ${address}"`);
});

test('a page in coins has requests of plain transfers', async () => {
  const { page, address } = await shown({}, { tokenAddress: NATIVE_COIN });

  expect(page).toContain('Send it from anywhere');
  expect(page).toContain('fees of an exchange come on top');
  expect(hrefs(page)).toEqual([
    expect.stringMatching(new RegExp(`^ethereum:${address}@\\d+\\?value=2500000$`)),
    expect.stringMatching(new RegExp(`^ethereum:${address}@\\d+$`)),
  ]);
});

test('after a part a page asks for the rest, from any wallet', async () => {
  const { page, address, at } = await shown(PART);

  expect(page).toContain('0.5 USDC still to pay');
  expect(page).toContain('Send the remaining 0.5 USDC to the same address, from any wallet.');
  expect(page).toContain('<strong class="amount">0.5</strong> <span>USDC</span>');
  expect(hrefs(page)[0]).toBe(`ethereum:${at}/transfer?address=${address}&uint256=500000`);
  expect(page).not.toContain('same wallet');
  expect(page).not.toContain('different wallet');
});

test.each<[string, Partial<CheckoutSession>, string]>([
  ['waiting', {}, 'Waiting for your payment'],
  ['sent', { txHash: HASH, payerAddress: PAYER }, 'on its way'],
  [
    'confirming',
    { paymentStatus: 'confirming', confirmations: 2, txHash: HASH },
    'asks for the rest afterwards',
  ],
  ['partial', PART, 'still to pay'],
  ['partial', { ...PART, ...ENDED }, 'please do not send the rest'],
  ['failed', { paymentStatus: 'failed', failureReason: 'reverted', txHash: HASH }, 'The payment failed'],
  ['paid', PAID, 'Paid. Thank you!'],
  ['overpaid', { ...PAID, amountReceived: 5_000_000n, amountOverpaid: 2_500_000n }, '2.5 USDC too much'],
  ['paid_late', { ...ENDED, paymentStatus: 'paid', amountReceived: 2_500_000n }, 'arrived late'],
  ['expired', { status: 'expired' }, 'This checkout has expired'],
])('a page that is %s says so and demands no exact amount', async (name, changes, sentence) => {
  const { page } = await shown(changes);

  expect(page).toContain(`data-state-name="${name}"`);
  expect(page).toContain(sentence);
  expect(page).toContain('an address that can only pay the merchant');
  expect(page).not.toMatch(/exactly|exact amount|last digit|same wallet|wallet button only/i);
});

test('a receipt names the address to which the money was sent', async () => {
  const { page, address } = await shown(PAID);

  expect(page).toContain(`<dt>To</dt><dd><code>${address}</code>`);
});

test('a receipt of coins that were found by their balance names neither sender nor transaction', async () => {
  const { page } = await shown({ ...PAID, txHash: null, payerAddress: null }, { tokenAddress: NATIVE_COIN });

  expect(page).toContain('Paid. Thank you!');
  expect(page).not.toContain('<dt>From</dt>');
  expect(page).not.toContain('<dt>Transaction</dt>');
});
