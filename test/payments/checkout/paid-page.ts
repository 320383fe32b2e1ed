import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import { record, text } from '../../lab/json.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { startTestPayments, type TestPaymentsService } from '../../lab/payments-service.ts';
import { briskClock } from '../../support/brisk-clock.ts';
import { complaintsOf, makeBrisk, test as withBrowser } from '../../support/browser.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { type InjectedWallet, injectWallet } from '../../support/injected-wallet.ts';
import { deployFactory } from '../watcher/deposit-support.ts';
import { paymentChain } from '../watcher/setting.ts';

const CONFIRMATIONS = 1;
const PAYER = 1;
const SHOP = 5;

/** `test` with checkouts of a running service, their chain, and a browser page with the payer's wallet. */
export const test = withBrowser
  .extend('clock', { scope: 'worker' }, (): Clock => briskClock)
  .extend('chain', { scope: 'worker' }, async ({ clock }, { onCleanup }): Promise<TestPaymentChain> => {
    const chain = await startPaymentChain({ clock });
    onCleanup(chain.stop);
    await deployFactory(chain);
    return chain;
  })
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('database', { scope: 'file' }, async ({}, { onCleanup }): Promise<DatabaseOptions> => {
    const database = await sqliteDatabase('payments');
    onCleanup(database.remove);
    return database.options;
  })
  .extend(
    'service',
    { scope: 'file' },
    async ({ chain, database, clock }, { onCleanup }): Promise<TestPaymentsService> => {
      const watched = paymentChain(chain);
      const service = await startTestPayments(database, {
        clock,
        chains: [
          {
            ...watched,
            confirmations: CONFIRMATIONS,
            depositAddresses: {},
            explorerUrl: hash => `https://explorer.example/tx/${hash}`,
            rpcUrls: [chain.rpcUrl],
            isOfThisRun: true,
          },
        ],
        demo: {
          chainId: watched.id,
          tokenAddress: chain.token.toLowerCase(),
          recipientAddress: accountOf(chain, SHOP),
        },
        rateLimitPerMinute: { standard: 1_000, elevated: 1_000 },
        sessionLifetimeMs: 30 * 60_000,
      });
      onCleanup(service.close);
      return service;
    },
  )
  /** Posts to the service as the merchant. */
  .extend('post', ({ service }) => async (path: string, body: object) => {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${service.demoKey}` },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: record(await answer.json()) };
  })
  .extend('createLink', ({ post }) => async (link: object): Promise<{ url: string; shortCode: string }> => {
    const { status, body } = await post('/payment-links', link);
    expect({ status, body }).toMatchObject({ status: 201 });
    return { url: text(body.url), shortCode: text(body.short_code) };
  })
  /** A page that keeps its pauses. */
  .extend('patientPage', async ({ browser }, { onCleanup }): Promise<Page> => {
    const page = await browser.newPage();
    onCleanup(() => page.close());
    return page;
  })
  .extend('page', async ({ patientPage }): Promise<Page> => {
    await makeBrisk(patientPage);
    return patientPage;
  })
  /** Errors of the page, such as violations of the content security policy. */
  .extend('complaints', ({ page }) => complaintsOf(page))
  .extend(
    'walletIn',
    ({ chain }) =>
      (page: Page, name = 'Sample Wallet'): Promise<InjectedWallet> =>
        injectWallet(page, {
          rpcUrl: chain.rpcUrl,
          address: accountOf(chain, PAYER),
          chainId: chain.chainId,
          name,
        }),
  )
  .extend('wallet', ({ page, walletIn }): Promise<InjectedWallet> => walletIn(page))
  /** Starts a checkout of a new link over the API and opens its page; returns the checkout's id. */
  .extend(
    'openCheckout',
    ({ service, createLink, post }) =>
      async (page: Page, link: object): Promise<string> => {
        const { shortCode } = await createLink({ name: 'Field notebooks', ...link });
        const { body } = await post(`/pay/links/${shortCode}/sessions`, {});
        const id = text(body.id);
        await page.goto(`${service.url}/pay/s/${id}`);
        return id;
      },
  )
  /** Pays from the payer's account without the page, and confirms the payment. */
  .extend('payFromElsewhere', ({ chain }) => async (amount: bigint) => {
    await chain.pay({ from: PAYER, to: accountOf(chain, SHOP), amount });
    await chain.mine(1 + CONFIRMATIONS);
  })
  /** Confirms the payment of the page's wallet, and waits for the page to show each step. */
  .extend('confirmed', ({ chain, page }) => async () => {
    await chain.mine();
    await status(page, 'confirming').waitFor();
    await chain.mine();
    await status(page, 'paid').waitFor();
  });

/** The answer of a wallet whose user declines. */
export const REJECTED = { code: 4001, message: 'User rejected the request.' };

export const status = (page: Page, name: string) => page.locator(`[data-state-name=${name}]`);
export const payButton = (page: Page) => page.locator('#pay');

/** Waits until the page of a link becomes the page of a checkout. */
export const started = (page: Page) => page.waitForURL(/\/pay\/s\/cs_/);

function accountOf(chain: TestPaymentChain, index: number): string {
  return text(chain.accounts[index]);
}
