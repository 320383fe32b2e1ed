import { render } from 'preact-render-to-string';
import { plainRouter } from '#http/plain-router.ts';
import { toJson } from '#lib/json.ts';
import { createLogger } from '#lib/logger.ts';
import { assetRoutes } from '#pages/assets.ts';
import { h } from '#pages/browser/element.ts';
import { pageAdmission, rateLimits } from '#payments/api/gate/rate-limits.ts';
import { MERCHANT_WORDS } from '#payments/browser/outcome-words.ts';
import { chainStatuses } from '#payments/chain-status.ts';
import { checkoutPages } from '#payments/checkout/page/routes.ts';
import { CheckoutStatus } from '#payments/dashboard/browser/statuses.ts';
import type { Outcome } from '#payments/model/outcome.ts';
import { paymentChains } from '#payments/model/payment-chain.ts';
import { pageAssets } from '#payments/page-assets.ts';
import { expiryWorker } from '#payments/watcher/expiry.ts';
import { serve } from '../../http/serve.ts';
import { text } from '../../lab/json.ts';
import type { TestPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { describeEach, postgresDatabase, sqliteDatabase } from '../../support/databases.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import { type PaymentsApi, startPaymentsApi } from '../../support/payments-api.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, watcherOf } from '../watcher/setting.ts';
import { chainTest, never } from '../watcher/watched-shop.ts';

/** API, pages and watcher of one chain on one database. */
export interface ServedShop {
  readonly api: PaymentsApi;
  readonly chain: TestPaymentChain<ManualClock>;
  /** Advances three seconds, after which the pool is read again, and runs the watcher and the end of sessions. */
  round(): Promise<void>;
  /** Confirms and settles the transfers in the pool. */
  settle(): Promise<void>;
  /** The HTML of a checkout's page. */
  page(sessionId: string): Promise<string>;
}

/** `test` with a served shop that the tests of a file share. */
export type ServedShopTest = ReturnType<typeof servedShopTest>;

/** Runs a suite on a served shop with each database of the run. */
export function eachServedShop(name: string, suite: (test: ServedShopTest) => void): void {
  describeEach(name, { sqlite: onSqlite, postgres: onPostgres }, suite);
}

/** The badge in the dashboard of a session as the API has it. */
export function badgeOf(session: Readonly<Record<string, unknown>>): string {
  const outcome = OUTCOMES.find(one => one === session.outcome);
  const status = STATUSES.find(one => one === session.status);
  if (outcome === undefined || status === undefined) throw new Error(`no session: ${toJson(session)}`);
  const amounts = {
    amount_received: text(session.amount_received),
    amount_overpaid: text(session.amount_overpaid),
    amount_refunded: text(session.amount_refunded),
  };
  const badge = h(CheckoutStatus, { session: { outcome, status, ...amounts } });
  return render(badge).replaceAll(/<[^>]*>/g, '');
}

const STATUSES = ['active', 'completed', 'expired'] as const;
const OUTCOMES = Object.keys(MERCHANT_WORDS).filter(isOutcome);

function isOutcome(outcome: string): outcome is Outcome {
  return outcome in MERCHANT_WORDS;
}

function servedShopTest(createDatabase: typeof sqliteDatabase | typeof postgresDatabase) {
  return chainTest.extend(
    'shop',
    { scope: 'file' },
    async ({ chain }, { onCleanup }): Promise<ServedShop> => {
      const database = await createDatabase('payments');
      const chains = paymentChains([paymentChain(chain)]);
      const api = await startPaymentsApi(database.options, {}, { clock: chain.clock, chains });
      const pages = await servePages(api, chains);
      onCleanup(async () => {
        await pages.close(0);
        await api[Symbol.asyncDispose]();
        await database.remove();
      });
      return { api, chain, ...watching(api, chain), page: id => textAt(`${pages.url}/pay/s/${id}`) };
    },
  );
}

// Fixtures of file scope must be defined outside of a suite.
const onSqlite = servedShopTest(sqliteDatabase);
const onPostgres = servedShopTest(postgresDatabase);

function watching(
  { db, seals, clock }: PaymentsApi,
  chain: TestPaymentChain<ManualClock>,
): Pick<ServedShop, 'round' | 'settle'> {
  const watched = paymentChain(chain);
  const watcher = watcherOf({ chain: watched, rpcUrls: [chain.rpcUrl], db, clock, seals });
  const expiry = expiryWorker({ db, seals, clock, log, chains: paymentChains([watched]) });
  const round = async () => {
    clock.advance(3_000);
    await watcher.runOnce(never);
    await expiry.runOnce(never);
  };
  return {
    round,
    async settle() {
      clock.advance(5_000);
      await chain.mine(BLOCKS_TO_SETTLE);
      for (let count = 0; count < 2; count++) await round();
    },
  };
}

function servePages({ db, seals, clock }: PaymentsApi, chains: ReturnType<typeof paymentChains>) {
  const plain = plainRouter();
  const assets = pageAssets();
  assetRoutes(plain, assets);
  checkoutPages(plain, {
    assets,
    db,
    seals,
    clock,
    chains,
    publicUrl: 'https://pay.example.com',
    isChainLate: chainStatuses({ db, clock, watched: [] }).isLate,
    admit: pageAdmission(rateLimits(db, { standard: 10_000, elevated: 10_000 }), clock),
  });
  return serve([], { plain, log: createLogger({ level: 'silent' }), trustedProxies: ['127.0.0.1'] });
}

async function textAt(url: string): Promise<string> {
  const answer = await fetch(url, {
    headers: { 'Accept-Encoding': 'identity' },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return answer.text();
}
