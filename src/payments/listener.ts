import type { Middleware } from 'koa';
import { paymentsErrorBody } from '../contract/contracts/payments-errors.ts';
import { type Db, isShared } from '../db/open.ts';
import { transaction } from '../db/transaction.ts';
import { createApp } from '../http/app/app.ts';
import { inOrder } from '../http/app/in-order.ts';
import { plainRouter } from '../http/plain-router.ts';
import { boundedAs } from '../http/server/connection-bounds.ts';
import type { ListenerSettings } from '../http/server/listener-settings.ts';
import { listen } from '../http/server/server.ts';
import { newId } from '../lib/ids.ts';
import type { ChainStatuses } from './chain-status.ts';
import { shownStates } from './checkout/bodies.ts';
import { stateWaits } from './checkout/state-waits.ts';
import { oneTimeToken } from './dashboard/session/one-time-token.ts';
import type { ApiKey } from './keys/api-key.ts';
import { apiKeyStore } from './keys/api-key-store.ts';
import { issueKey } from './keys/issue-key.ts';
import type { LinkDefaults, Organization, Tier } from './model/owner.ts';
import { type PaymentChain, paymentChains } from './model/payment-chain.ts';
import type { Store } from './open-store.ts';
import { PAYMENTS_CROSS_ORIGIN, paymentsRoutes, type RoutesOptions } from './routes.ts';
import { organizationStore } from './store/organization-store.ts';

/** Settings of what answers requests. */
export interface PaymentsListenerSettings extends ListenerSettings {
  /** What payers use, without a slash at the end; the address listened on when absent. */
  readonly publicUrl?: string | undefined;
  /** Makes an organization to try things out with, whose links take these. */
  readonly demo?: LinkDefaults | undefined;
  /** Requests a minute and API key. */
  readonly rateLimitPerMinute: Readonly<Record<Tier, number>>;
  readonly sessionLifetimeMs: number;
  /** Checks every answer against the contract; one that differs is a 500 after its effect. */
  readonly validateResponses: boolean;
}

interface PaymentsListenerDeps extends Pick<RoutesOptions, 'clientOf' | 'outgoing'> {
  readonly store: Store;
  readonly chains: readonly PaymentChain[];
  readonly statuses: ChainStatuses;
}

/** The API, the pay pages and the dashboard, as they are reached. */
export interface PaymentsListener {
  readonly url: string;
  /** A new key of the demo, which is kept nowhere and takes the place of earlier ones; undefined without one. */
  readonly demoKey: string | undefined;
  /** Address that opens the dashboard signed in to the demo, once; undefined without a demo. */
  readonly dashboardUrl: string | undefined;
}

/** Opens the listener of the role `payments`; what closes it is in `opened`. Rejects when the address cannot be had. */
export async function openPaymentsListener(
  settings: PaymentsListenerSettings,
  { store, chains, statuses, clientOf, outgoing }: PaymentsListenerDeps,
  opened: AsyncDisposableStack,
): Promise<PaymentsListener> {
  const { host, port, metrics, clock, log, trustedProxies } = settings;
  const demo = settings.demo && (await createDemo(store.db, { defaults: settings.demo, now: clock.now() }));
  const signIn = demo && oneTimeToken(demo.key.id, clock);
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
    // The address is in what they answer, and with port 0 it is known only then. Who comes before that waits.
    routes: [async (ctx, next) => (await routes.promise)(ctx, next)],
    plain,
  });
  const listening = await listen({
    app,
    host,
    port,
    log,
    connections: boundedAs('payments', settings.connections),
    drain: settings.drain,
    formatError: paymentsErrorBody,
  });
  opened.defer(() => listening.close());
  const { isLate: isChainLate } = statuses;
  const waits = stateWaits({ states: shownStates({ ...store, isChainLate }), clock, log });
  opened.defer(() => waits.close()); // before the server drains, which waits for every answer
  const context = {
    ...store,
    clock,
    log,
    publicUrl: settings.publicUrl ?? listening.url,
    chains: paymentChains(chains),
    sessionLifetimeMs: settings.sessionLifetimeMs,
    limits: settings.rateLimitPerMinute,
    counters: settings.counters ?? (isShared(store.db) ? undefined : settings.workerCounters),
    validateResponses: settings.validateResponses,
    clientOf,
    outgoing,
    waits,
    isChainLate,
    oneTimeToken: signIn,
  };
  routes.resolve(inOrder(await paymentsRoutes(context, plain)));
  return {
    url: listening.url,
    demoKey: demo?.secret,
    dashboardUrl: signIn && `${listening.url}/dashboard#token=${signIn.token}`,
  };
}

const NAME = 'Demo shop';
const KEY_NAME = 'Key of the demo';

/**
 * Makes sure that there is an organization to try things out with, and gives it a new test key that may do everything. The
 * keys of earlier runs are revoked: their secrets were printed and would never end in a database that is kept. Resolves to the key and to its secret, which is kept nowhere.
 */
export function createDemo(
  db: Db,
  { defaults, now }: { defaults: LinkDefaults; now: number },
): Promise<{ key: ApiKey; secret: string }> {
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
    return issueKey(handle, { ...draft, expiresAt: null }, now);
  });
}
