import { openDatabase } from '../../src/db/open.ts';
import { transaction } from '../../src/db/transaction.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type Assets, assetRoutes } from '../../src/pages/assets.ts';
import { pageAdmission, rateLimits } from '../../src/payments/api/gate/rate-limits.ts';
import { chainStatuses } from '../../src/payments/chain-status.ts';
import { checkoutPages } from '../../src/payments/checkout/page/routes.ts';
import { NATIVE_COIN, paymentChains } from '../../src/payments/model/payment-chain.ts';
import type { PaymentLink } from '../../src/payments/model/payment-link.ts';
import type { CheckoutSession } from '../../src/payments/model/session.ts';
import { pageAssets } from '../../src/payments/page-assets.ts';
import { seals } from '../../src/payments/secrets/sealed.ts';
import { type Choices, openingOf } from '../../src/payments/sessions/opening.ts';
import { sessionStore } from '../../src/payments/sessions/session-store.ts';
import { cursorStore } from '../../src/payments/store/cursor-store.ts';
import { linkStore } from '../../src/payments/store/link-store.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { serve } from '../http/serve.ts';
import { aLink, anOrganization, RECORD_TIME } from '../lab/payments-records.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { sqliteDatabase } from './databases.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

/** Time that a payer has, in milliseconds. */
export const PAGE_LIFETIME_MS = 30 * 60_000;

/** The hosted pages with their own database, without the API. `await using` ends them. */
export interface ServedPages extends AsyncDisposable {
  readonly url: string;
  readonly clock: ManualClock;
  /** Name of the organization behind every link. */
  readonly merchantName: string;
  /** Number of pages rendered so far. */
  rendered(): number;
  /** Records that the chain of every link has just been read up to its head. */
  looked(): Promise<void>;
  /** Adds a link of a test network. */
  link(changes?: Partial<PaymentLink>): Promise<PaymentLink>;
  /** Adds a session of a link and changes it as a settlement would. */
  session(link: PaymentLink, choices?: Choices, changes?: Partial<CheckoutSession>): Promise<CheckoutSession>;
  /** Writes a session as a settlement would. */
  settled(session: CheckoutSession): Promise<void>;
  /** Takes a use of a link, as a completed session does. */
  used(link: PaymentLink): Promise<void>;
  /** The stored link. */
  kept(link: PaymentLink): Promise<PaymentLink | undefined>;
  get(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; headers: Headers; text: string }>;
}

export async function servePages(): Promise<ServedPages> {
  const database = await sqliteDatabase('payments');
  const db = openDatabase(database.options);
  const clock = manualClock(RECORD_TIME);
  const sealed = seals(['a secret of the pages that are tested']);
  const sample = aLink({ organizationId: '', mode: 'test' });
  const chains = paymentChains([
    {
      id: sample.chainId,
      name: 'Local network',
      mode: 'test',
      tokens: [
        { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
        { address: sample.tokenAddress, symbol: 'USDC', decimals: 6 },
      ],
      confirmations: 3,
      depositAddresses: {},
      explorerUrl: hash => `https://explorer.example/tx/${hash}`,
    },
  ]);
  const organization = anOrganization({ name: 'Corner Books' });
  await organizationStore(db).insert(organization);
  const owner = { organizationId: organization.id, mode: 'test' } as const;
  const admit = pageAdmission(rateLimits(db, { standard: 1_000, elevated: 1_000 }), clock);
  const { isLate: isChainLate } = chainStatuses({ db, clock, watched: [] });
  const plain = plainRouter();
  const files = pageAssets();
  let rendered = 0;
  const assets: Assets = {
    ...files,
    path(name) {
      if (name.endsWith('/icon.svg')) rendered += 1;
      return files.path(name);
    },
  };
  assetRoutes(plain, assets);
  checkoutPages(plain, {
    assets,
    db,
    seals: sealed,
    clock,
    chains,
    publicUrl: 'https://pay.example',
    isChainLate,
    admit,
  });
  const log = createLogger({ level: 'silent' });
  const served = await serve([], { plain, log, trustedProxies: ['127.0.0.1'] });

  return {
    url: served.url,
    clock,
    merchantName: organization.name,
    rendered: () => rendered,
    looked: () =>
      cursorStore(db).keep(sample.chainId, {
        cursor: { blockNumber: 1, scannedAt: clock.now(), headTime: clock.now() },
        settledBlock: 1,
      }),
    async link(changes = {}) {
      const link = aLink(owner, changes);
      await linkStore(db).insert(link);
      return link;
    },
    async session(link, choices = {}, changes = {}) {
      const opening = openingOf({ link }, choices, {
        ...owner,
        id: newId('cs'),
        merchant: { name: organization.name, logoUrl: null, toleranceBps: 0 },
        chains,
        now: clock.now(),
        lifetimeMs: PAGE_LIFETIME_MS,
        successUrl: undefined,
        cancelUrl: null,
      });
      if ('fault' in opening) throw new Error(opening.fault.message);
      const session = await transaction(db, handle =>
        sessionStore(handle, sealed).open({ ...opening.draft, ...changes }),
      );
      const changed = { ...session, ...changes };
      await sessionStore(db, sealed).update(changed);
      return changed;
    },
    settled: session => sessionStore(db, sealed).update(session),
    async used({ id }) {
      await linkStore(db).countUse(id, clock.now());
    },
    kept: link => linkStore(db).find(owner, link.id),
    async get(path, headers = {}) {
      const answer = await fetch(served.url + path, { headers, signal: AbortSignal.timeout(PATIENCE_MS) });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    },
    async [Symbol.asyncDispose]() {
      await served.close(0);
      await db.destroy();
      await database.remove();
    },
  };
}
