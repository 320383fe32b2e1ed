import type { Middleware } from 'koa';
import { paymentsErrorBody } from '../contract/contracts/payments-errors.ts';
import { type Db, isShared } from '../db/open.ts';
import { transaction } from '../db/transaction.ts';
import { composed, createApp } from '../http/app/app.ts';
import { plainRouter } from '../http/plain-router.ts';
import { boundedAs } from '../http/server/connection-bounds.ts';
import { type ListenerSettings, listen } from '../http/server/server.ts';
import { newId } from '../lib/ids.ts';
import type { ChainStatuses } from './chain-status.ts';
import { shownStates } from './checkout/bodies.ts';
import { stateWaits } from './checkout/state-waits.ts';
import { signInStore } from './dashboard/sign-in/sign-in-store.ts';
import { chainOfNewSessions } from './deposits/deposit-offers.ts';
import { apiKeyStore } from './keys/api-key-store.ts';
import { issueKey } from './keys/issue-key.ts';
import { ownerAddress } from './members/owner-address.ts';
import { signInUrl } from './members/sign-in-address.ts';
import type { LinkDefaults, Organization, Tier } from './model/owner.ts';
import { type PaymentChain, paymentChains } from './model/payment-chain.ts';
import type { Store } from './open-store.ts';
import { PAYMENTS_CROSS_ORIGIN, paymentsRoutes, type RoutesOptions } from './routes.ts';
import { organizationStore } from './store/organization-store.ts';

/** Settings of the payments listener. */
export interface PaymentsListenerSettings extends ListenerSettings {
  /** Address that payers use, without a trailing slash; the listening address when absent. */
  readonly publicUrl?: string | undefined;
  /** Creates a demo organization with these defaults for its links. */
  readonly demo?: LinkDefaults | undefined;
  /** Requests per minute and API key. */
  readonly rateLimitPerMinute: Readonly<Record<Tier, number>>;
  readonly sessionLifetimeMs: number;
  /** Checks every answer against the contract. A wrong one becomes a 500, although the request has taken effect. */
  readonly validateResponses: boolean;
}

interface PaymentsListenerDeps extends Pick<RoutesOptions, 'clientOf' | 'outgoing' | 'checks' | 'deposits'> {
  readonly store: Store;
  readonly chains: readonly PaymentChain[];
  readonly statuses: ChainStatuses;
}

/** Addresses and credentials of the running API, pay pages and dashboard. */
export interface PaymentsListener {
  readonly url: string;
  /** A new key of the demo; undefined without a demo. It replaces earlier ones and is stored only as a hash. */
  readonly demoKey: string | undefined;
  /** Address that signs in to the demo's dashboard once; undefined without a demo. */
  readonly dashboardUrl: string | undefined;
}

/** Opens the listener of the role `payments` and registers its closing in `opened`. Rejects when it cannot listen. */
export async function openPaymentsListener(
  settings: PaymentsListenerSettings,
  { store, chains, statuses, clientOf, outgoing, checks, deposits }: PaymentsListenerDeps,
  opened: AsyncDisposableStack,
): Promise<PaymentsListener> {
  const { host, port, metrics, clock, log, trustedProxies } = settings;
  const demo = settings.demo && (await createDemo(store.db, { defaults: settings.demo, now: clock.now() }));
  const routes = Promise.withResolvers<Middleware>();
  const plain = plainRouter();
  const app = createApp({
    log,
    metrics,
    clock,
    loggedRequests: settings.loggedRequests,
    trustedProxies,
    crossOrigin: PAYMENTS_CROSS_ORIGIN,
    formatError: paymentsErrorBody,
    // Answers contain the address, which is known only when listening, because of port 0. Requests before that wait.
    routes: [async (ctx, next) => (await routes.promise)(ctx, next)],
    plain,
  });
  const listening = await listen({
    app,
    host,
    port,
    log,
    clock,
    connections: boundedAs('payments', settings.connections),
    drain: settings.drain,
    formatError: paymentsErrorBody,
  });
  opened.defer(() => listening.close());
  const { isLate: isChainLate } = statuses;
  const waits = stateWaits({ states: shownStates({ ...store, clock, isChainLate }), clock, log });
  opened.defer(() => waits.close()); // before the server drains, which waits for every answer
  const context = {
    ...store,
    clock,
    log,
    publicUrl: settings.publicUrl ?? listening.url,
    chains: paymentChains(chains.map(chain => chainOfNewSessions(chain, deposits))),
    sessionLifetimeMs: settings.sessionLifetimeMs,
    limits: settings.rateLimitPerMinute,
    counters: settings.counters ?? (isShared(store.db) ? undefined : settings.workerCounters),
    validateResponses: settings.validateResponses,
    clientOf,
    outgoing,
    waits,
    isChainLate,
    checks,
    deposits,
    isLeaving: settings.isLeaving,
  };
  routes.resolve(composed(await paymentsRoutes(context, plain)));
  return {
    url: listening.url,
    demoKey: demo?.secret,
    dashboardUrl: demo && signInUrl(listening.url, demo.token),
  };
}

const NAME = 'Demo shop';
const KEY_NAME = 'Key of the demo';

/**
 * Creates the demo organization if it is missing, and gives it a new admin test key and a one-time address of its owner.
 * Ends those of earlier runs: they were printed, and the keys have no expiry. Resolves to the secret of the key and the
 * token of the address, which are stored only as hashes.
 */
export function createDemo(
  db: Db,
  { defaults, now }: { defaults: LinkDefaults; now: number },
): Promise<{ secret: string; token: string }> {
  return transaction(db, async handle => {
    const organizations = organizationStore(handle);
    const known = await organizations.findByName(NAME);
    const shop: Organization = known ?? {
      id: newId('org'),
      name: NAME,
      tier: 'elevated',
      defaults,
      createdAt: now,
    };
    if (known === undefined) await organizations.insert(shop);
    await apiKeyStore(handle).revokeNamed({ organizationId: shop.id, mode: 'test', name: KEY_NAME }, now);
    const draft = { organizationId: shop.id, mode: 'test', name: KEY_NAME, permission: 'admin' } as const;
    const { secret } = await issueKey(handle, { ...draft, expiresAt: null }, now);
    const { owner, token } = await ownerAddress(handle, { organizationId: shop.id }, now);
    await signInStore(handle).removeOfMember(owner.id);
    return { secret, token };
  });
}
