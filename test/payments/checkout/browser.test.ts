import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { encodeFunctionData, erc20Abi, numberToHex, parseUnits } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import { httpRpc, type Rpc } from '#devnet/chain/rpc.ts';
import type { EmbeddedChain } from '#devnet/start-devnet.ts';
import { createMetrics } from '#http/metrics.ts';
import { createLogger } from '#lib/logger.ts';
import { NATIVE_COIN, type PaymentToken } from '#payments/model/payment-chain.ts';
import { type PaymentsService, startPaymentsService } from '#payments/service.ts';
import { briskClock } from '../../support/brisk-clock.ts';
import { launchBrowser } from '../../support/browser.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { startTestDevnet, type TestDevnet } from '../../support/devnet.ts';
import { injectWallet } from '../../support/injected-wallet.ts';
import { record, text } from '../../support/json.ts';
import { LOOPBACK_ONLY } from '../../support/payments-service.ts';
import { until } from '../../support/until.ts';

const LIFETIME_MS = 30 * 60_000;
const CONFIRMATIONS = 1;
const MINUTE_MS = 60_000;
const REJECTED = { code: 4001, message: 'User rejected the request.' };

let devnet: TestDevnet;
let chain: EmbeddedChain;
let rpc: Rpc;
let token: PaymentToken;
let payer: string;
let service: PaymentsService;
let browser: Browser;
const opened: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  // Blocks follow this machine's clock, because payments are compared with the time of their session.
  devnet = await startTestDevnet({ blocks: 25, endTime: Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS });
  opened.push(() => devnet.stop());
  const [first] = devnet.chains;
  const [stable] = first?.tokens ?? [];
  if (first === undefined || stable === undefined) throw new Error('the devnet has no chain with a token');
  chain = first;
  rpc = httpRpc(chain.rpcUrl);
  token = { ...stable, address: stable.address.toLowerCase() };
  payer = await holder();
  const database = await sqliteDatabase('payments');
  opened.push(() => rm(database.options.file, { force: true }), database.remove);
  service = await startPaymentsService({
    host: '127.0.0.1',
    port: 0,
    database: database.options,
    secretKey: { kind: 'value', value: 'a-secret-of-the-browser-test-alone' },
    chains: [
      {
        id: chain.id,
        name: chain.name,
        mode: 'test',
        tokens: [{ address: NATIVE_COIN, symbol: 'ETH', decimals: 18 }, token],
        confirmations: CONFIRMATIONS,
        explorerUrl: hash => `https://explorer.example/tx/${hash}`,
        rpcUrls: [chain.rpcUrl],
        isOfThisRun: true,
      },
    ],
    demo: { chainId: chain.id, tokenAddress: token.address, recipientAddress: devnet.merchant.toLowerCase() },
    rateLimitPerMinute: { standard: 1_000, elevated: 1_000 },
    sessionLifetimeMs: LIFETIME_MS,
    validateResponses: true,
    trustedProxies: [],
    outgoing: LOOPBACK_ONLY,
    metrics: createMetrics(),
    clock: briskClock,
    log: createLogger({ level: 'silent' }),
  });
  opened.push(() => service.close());
  browser = await launchBrowser();
  opened.push(() => browser.close());
}, 120_000);

afterAll(async () => {
  for (const close of opened.toReversed()) await close();
});

/** An account of the activity that holds tokens and can sign. */
async function holder(): Promise<string> {
  for (const address of deriveAccounts().addresses) {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] });
    const held = text(await rpc.call('eth_call', { to: token.address, data }, 'latest'));
    if (BigInt(held) >= 100_000_000n) return address;
  }
  throw new Error('nobody holds enough of the token');
}

async function mine(): Promise<void> {
  const latest = record(await rpc.call('eth_getBlockByNumber', 'latest', false));
  const next = Math.max(Math.floor(Date.now() / 1000), Number(latest.timestamp) + 1);
  await rpc.call('evm_mine', numberToHex(next));
}

async function createLink(body: Record<string, unknown>): Promise<string> {
  const answer = await fetch(`${service.url}/api/v1/payment-links`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${service.demoKey}` },
    body: JSON.stringify(body),
  });
  const link = record(await answer.json());
  expect({ status: answer.status, link }).toMatchObject({ status: 201 });
  return text(link.url);
}

/** Makes the pauses of a page last a tenth: it rests for a second after every change of its state. */
const BRISK = `{
  const setTimeoutInFull = window.setTimeout;
  window.setTimeout = (run, ms, ...args) => setTimeoutInFull(run, ms / 10, ...args);
}`;

/** A page whose every complaint, such as one of the content policy, fails the test. */
async function newPage({ isBrisk = true } = {}): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000); // below the test's own, to fail with a reason
  if (isBrisk) await page.addInitScript(BRISK);
  const complaints: string[] = [];
  page.on('pageerror', error => complaints.push(error.message));
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return { page, complaints };
}

const status = (page: Page, name: string) => page.locator(`[data-state-name=${name}]`);
const walletOf = (page: Page) =>
  injectWallet(page, { rpcUrl: chain.rpcUrl, address: payer, chainId: chain.id });
const payButton = (page: Page) => page.locator('#pay');
const started = (page: Page) => page.waitForURL(/\/pay\/s\/cs_/);

async function confirmed(page: Page): Promise<void> {
  await mine();
  await status(page, 'confirming').waitFor();
  await mine();
  await status(page, 'completed').waitFor();
}

test('a payer opens a link, pays its price with a wallet, sees it confirmed and gets the receipt', async () => {
  const { page, complaints } = await newPage();
  const wallet = await walletOf(page);
  const url = await createLink({
    name: 'Field notebooks',
    amount: '12500000',
    return_url: 'https://books.example/?s={SESSION_ID}',
  });

  await page.goto(`${url}?client_reference_id=order-1042`);
  await page.getByRole('button', { name: 'Pay 12.5' }).click();
  await started(page);
  const id = page.url().split('/').at(-1);
  await payButton(page).click();
  await status(page, 'sent').waitFor();
  await mine();
  await status(page, 'confirming').waitFor();
  expect(await page.getByText('0 of 1 confirmation').isVisible()).toBe(true);
  await mine();
  await status(page, 'completed').waitFor();

  const receipt = page.getByRole('region', { name: 'Receipt' });
  expect(await receipt.getByText('12.5 USDS').count()).toBeGreaterThan(0);
  expect(await receipt.getByText('Received').count()).toBe(0); // the price, without a tail
  expect(await receipt.getByRole('link', { name: /^0x[0-9a-f]{64}/ }).getAttribute('href')).toMatch(
    /^https:\/\/explorer\.example\/tx\/0x[0-9a-f]{64}$/,
  );
  expect(await receipt.getByRole('link', { name: 'Back to' }).getAttribute('href')).toBe(
    `https://books.example/?s=${id}`,
  );
  expect(wallet.asked.filter(method => /request|sign|send/i.test(method))).toEqual([
    'eth_requestAccounts',
    'personal_sign',
    'eth_sendTransaction',
  ]);
  expect(complaints).toEqual([]);
  await page.close();
});

test('a transfer from elsewhere completes the checkout with the tab closed', async () => {
  const { page } = await newPage();
  await page.goto(await createLink({ name: 'By code', amount: '3000000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);
  const url = page.url();
  const units = await page.locator('.amount').first().textContent();
  await page.close();

  const amount = parseUnits(units?.trim() ?? '', token.decimals);
  const args = [devnet.merchant, amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  await rpc.call('eth_sendTransaction', { from: payer, to: token.address, data });
  for (let block = 0; block <= CONFIRMATIONS; block += 1) await mine();

  const { page: later } = await newPage();
  await later.goto(url);
  await status(later, 'completed').waitFor();
  await later.close();
});

test('the native coin is paid with the keyboard alone', async () => {
  const { page, complaints } = await newPage();
  await walletOf(page);
  await page.goto(
    await createLink({ name: 'Open amount', token_address: NATIVE_COIN, min_amount: '1000000000000000' }),
  );

  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type('0.0001');
  await page.keyboard.press('Enter');
  expect(await page.locator('#error-amount').textContent()).toBe('The least is 0.001 ETH.');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('0.25');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await started(page);
  await page.locator('#pay:enabled').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await status(page, 'sent').waitFor();
  await confirmed(page);

  expect(await page.locator('#price').textContent()).toBe('0.25 ETH');
  expect(complaints).toEqual([]);
  await page.close();
});

test('who declines in the wallet stays on the page and can pay after all', async () => {
  const { page } = await newPage();
  const wallet = await walletOf(page);
  await page.goto(await createLink({ name: 'Second thoughts', amount: '4000000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);

  wallet.refuse('eth_sendTransaction', REJECTED);
  await payButton(page).click();
  await page.getByText('You declined in the wallet').waitFor();
  expect(await status(page, 'awaiting').count()).toBe(1);
  wallet.refuse('eth_sendTransaction', null);
  await payButton(page).click();
  await status(page, 'sent').waitFor();
  await confirmed(page);

  expect(wallet.asked.filter(method => method === 'personal_sign')).toHaveLength(1);
  await page.close();
});

test('a payment whose claim was lost with the connection is claimed on the next visit', async () => {
  const { page } = await newPage();
  await walletOf(page);
  await page.goto(await createLink({ name: 'Broken line', amount: '7000000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);

  await page.route('**/claims', route => route.abort());
  await payButton(page).click();
  await page.getByText('Sent. You may close this page.').waitFor();
  expect(await payButton(page).isDisabled()).toBe(true);
  await page.unroute('**/claims');
  await page.reload();
  await status(page, 'sent').waitFor();
  await confirmed(page);
  await page.close();
});

const BLOCKED = `throw new DOMException('Access is denied for this document.', 'SecurityError')`;

test.each([
  ['throws', BLOCKED],
  ['is null', 'return null'],
])('a payment is sent once and followed to its receipt where storage %s', async (_, answer) => {
  const { page } = await newPage();
  const wallet = await walletOf(page);
  await page.addInitScript(
    `Object.defineProperty(window, 'sessionStorage', { get() { ${answer}; }, configurable: true });`,
  );
  await page.clock.install();
  await page.goto(await createLink({ name: 'No storage', amount: '2000000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);

  await page.route('**/claims', route => route.abort());
  await page.locator('#pay:enabled').waitFor();
  await payButton(page).click();
  await page.getByText('Sent. You may close this page.').waitFor();
  expect(await payButton(page).isDisabled()).toBe(true);
  await page.unroute('**/claims');
  await page.clock.fastForward('01:00');
  await status(page, 'sent').waitFor();
  await confirmed(page);

  expect(wallet.asked.filter(method => method === 'eth_sendTransaction')).toHaveLength(1);
  await page.close();
});

test('the missing part is paid once: its button stays off while that payment is on its way', async () => {
  const { page } = await newPage();
  const wallet = await walletOf(page);
  await page.goto(await createLink({ name: 'In two parts', amount: '8000000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);
  wallet.refuse('eth_sendTransaction', REJECTED);
  await payButton(page).click();
  await page.getByText('You declined in the wallet').waitFor();
  wallet.refuse('eth_sendTransaction', null);
  const args = [devnet.merchant, 3_000_000n] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  await rpc.call('eth_sendTransaction', { from: payer, to: token.address, data });
  for (let block = 0; block <= CONFIRMATIONS; block += 1) await mine();
  await status(page, 'underpaid').waitFor();

  await page.getByRole('button', { name: 'Pay 5 USDS' }).click();
  await page.getByText('Sent. You may close this page.').waitFor();
  await page.evaluate(`document.dispatchEvent(new Event('decorated'))`);
  expect(await payButton(page).isDisabled()).toBe(true);
  await confirmed(page);
  await page.close();
});

test('a wallet that fails without an answer has the payer look into it before trying again', async () => {
  const { page } = await newPage();
  const wallet = await walletOf(page);
  await page.goto(await createLink({ name: 'Cut off', amount: '2100000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);

  wallet.refuse('eth_sendTransaction', { code: -32603, message: 'Connection lost.' });
  await payButton(page).click();

  await page.getByText('Connection lost.').waitFor();
  expect(await page.locator('#wallet-status').textContent()).toContain('check in your wallet');
  await page.close();
});

test('an open page asks by waiting, not by asking often, and stops when the checkout has ended', async () => {
  const { page } = await newPage({ isBrisk: false });
  const asked: string[] = [];
  page.on('request', request => {
    if (request.url().includes('/status')) asked.push(request.url().replace(/.*\?/, ''));
  });
  await page.clock.install();
  await page.goto(await createLink({ name: 'Patience', amount: '2200000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);
  const id = page.url().split('/').at(-1);
  await until(
    async () => asked.length,
    count => count === 2,
  );
  await page.clock.fastForward('00:20');
  expect(asked).toEqual(['wait=0', 'wait=25']);

  const ended = await fetch(`${service.url}/api/v1/checkout-sessions/${id}/expire`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.demoKey}` },
  });
  await status(page, 'expired').waitFor();
  const before = asked.length;
  await page.clock.fastForward('10:00');
  await page.evaluate('fetch("/healthz")');

  expect(ended.status).toBe(200);
  expect(asked).toHaveLength(before);
  await page.close();
});

test('a page that is refused says so, and how long it waits', async () => {
  const { page } = await newPage({ isBrisk: false });
  await walletOf(page);
  await page.goto(await createLink({ name: 'Crowd', amount: '2300000' }));
  await page.route('**/status*', route => route.fulfill({ status: 429, headers: { 'Retry-After': '37' } }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);

  await page.getByText('too many requests from your network').waitFor();
  expect(await page.locator('#connection').textContent()).toContain('in 37 seconds');
  await payButton(page).click();
  await page
    .locator('#wallet-status', { hasText: 'Nothing was sent; please try again in 37 seconds' })
    .waitFor();
  await page.close();
});

test('what the server refuses is said beside its field, and shipping counts towards the price', async () => {
  const { page } = await newPage();
  await page.goto(
    await createLink({
      name: 'Form',
      amount: '7500000',
      shipping_options: [
        { id: 'slow', name: 'Slow', amount: '0' },
        { id: 'fast', name: 'Fast', amount: '500000' },
      ],
      form_schema: { fields: [{ id: 'phone', type: 'phone', label: 'Phone', required: true }] },
    }),
  );

  await page.getByRole('button', { name: 'Pay' }).click();
  expect(await page.locator('[id="error-form_data.phone"]').textContent()).not.toBe('');
  await page.getByLabel('Phone').fill('nobody');
  await page.getByLabel('Fast').check();
  await page.getByRole('button', { name: 'Pay 8 USDS' }).click();
  await page.getByText('This is not accepted. Please check it.').waitFor();
  expect(await page.getByLabel('Phone').getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Phone').fill('+44 20 7946 0000');
  await page.getByRole('button', { name: 'Pay 8 USDS' }).click();
  await started(page);

  expect(await page.locator('#price').textContent()).toBe('8 USDS');
  await page.close();
});

test('a wallet on another network is switched, and nothing is sent when it cannot be', async () => {
  const { page } = await newPage();
  const wallet = await walletOf(page);
  await page.goto(await createLink({ name: 'Elsewhere', amount: '5000000' }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);

  wallet.chooseNetwork(1);
  wallet.refuse('wallet_switchEthereumChain', { code: 4902, message: 'Unrecognized chain ID.' });
  await payButton(page).click();
  await page.getByText(`does not know ${chain.name} (network id ${chain.id})`).waitFor();
  expect(wallet.asked).not.toContain('eth_sendTransaction');
  wallet.refuse('wallet_switchEthereumChain', null);
  await payButton(page).click();
  await status(page, 'sent').waitFor();
  await confirmed(page);
  await page.close();
});

test('an account with too little is told so before anything is signed', async () => {
  const { page } = await newPage();
  const wallet = await walletOf(page);
  await page.goto(await createLink({ name: 'Too dear', amount: String(10n ** 40n) }));
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);

  await payButton(page).click();
  await page.getByText('This account holds').waitFor();

  expect(wallet.asked).not.toContain('personal_sign');
  await page.close();
});

test('with several wallets the payer chooses, and with none a text leads to the code', async () => {
  const { page } = await newPage();
  const url = await createLink({ name: 'Choice', amount: '6000000' });
  await page.goto(url);
  await page.getByRole('button', { name: 'Pay' }).click();
  await started(page);
  await page.getByText('No wallet was found in this browser').waitFor();
  expect(await payButton(page).isVisible()).toBe(false);

  await walletOf(page);
  await injectWallet(page, { rpcUrl: chain.rpcUrl, address: payer, chainId: chain.id, name: 'Other Wallet' });
  await page.reload();
  await payButton(page).click();
  await page.getByRole('button', { name: 'Other Wallet' }).click();
  await status(page, 'sent').waitFor();
  await confirmed(page);
  await page.close();
});
