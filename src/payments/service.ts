import type { Middleware } from 'koa';
import { paymentsErrorBody } from '../contract/contracts/payments-errors.ts';
import type { DatabaseOptions, Db } from '../db/open.ts';
import { transaction } from '../db/transaction.ts';
import type { LoggedRequests } from '../http/app/access-log.ts';
import { createApp } from '../http/app/app.ts';
import { inOrder } from '../http/app/in-order.ts';
import type { Metrics } from '../http/metrics.ts';
import { plainRouter } from '../http/plain-router.ts';
import { boundedAs, type ConnectionBounds } from '../http/server/connection-bounds.ts';
import { listen } from '../http/server/server.ts';
import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { type ChainClient, createChainClient } from '../node/client.ts';
import { chainStatusBody, registerWatcherMetrics } from './chain-status.ts';
import { shownStates } from './checkout/bodies.ts';
import { stateWaits } from './checkout/state-waits.ts';
import { oneTimeToken } from './dashboard/session/one-time-token.ts';
import type { ApiKey } from './keys/api-key.ts';
import { apiKeyStore } from './keys/api-key-store.ts';
import { issueKey } from './keys/issue-key.ts';
import { paymentsMetrics } from './metrics.ts';
import type { LinkDefaults, Organization, Tier } from './model/owner.ts';
import { type PaymentChain, paymentChains } from './model/payment-chain.ts';
import { openStore } from './open-store.ts';
import { type OutgoingOptions, openOutgoing } from './outgoing.ts';
import { PAYMENTS_CROSS_ORIGIN, paymentsRoutes } from './routes.ts';
import type { SecretKeySource } from './secrets/secret-key.ts';
import { cursorStore } from './store/cursor-store.ts';
import { organizationStore } from './store/organization-store.ts';
import { deliveryQueue } from './webhooks/delivery-queue.ts';
import { startWorkers } from './workers.ts';

/** A chain on which payments are taken, and the nodes that tell of them, in order of preference. */
export interface WatchedChain extends PaymentChain {
  readonly rpcUrls: readonly string[];
  /** Whether it began with this run and ends with it. */
  readonly isOfThisRun: boolean;
}

const NODE_TIMEOUT_MS = 10_000;

export interface PaymentsServiceOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What payers use, without a slash at the end; the address listened on when absent. */
  readonly publicUrl?: string | undefined;
  readonly database: DatabaseOptions;
  readonly secretKey: SecretKeySource;
  readonly chains: readonly WatchedChain[];
  /** Makes an organization to try things out with, whose links take these. */
  readonly demo?: LinkDefaults | undefined;
  /** Requests a minute and API key. */
  readonly rateLimitPerMinute: Readonly<Record<Tier, number>>;
  readonly sessionLifetimeMs: number;
  /** As in `RetentionOptions`. */
  readonly unpaidSessionsMs?: number | undefined;
  /** Checks every answer against the contract; one that differs is a 500 after its effect. */
  readonly validateResponses: boolean;
  readonly loggedRequests: LoggedRequests;
  readonly trustedProxies: readonly string[];
  /** Bounds of open connections; none when absent. */
  readonly connections?: ConnectionBounds | undefined;
  readonly outgoing: OutgoingOptions;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface PaymentsService {
  readonly url: string;
  /** A new key of the demo, which is kept nowhere and takes the place of earlier ones; undefined without one. */
  readonly demoKey: string | undefined;
  /** Address that opens the dashboard signed in to the demo, once; undefined without a demo. */
  readonly dashboardUrl: string | undefined;
  /** State of the chains, for the operator. */
  status(): Promise<object>;
  /** Stops accepting, drains, ends the workers and closes the database. */
  close(): Promise<void>;
}

/** Composition root of the payments service. Rejects when the database, the secret key or the address cannot be had. */
export async function startPaymentsService(options: PaymentsServiceOptions): Promise<PaymentsService> {
  const { host, port, metrics, clock, log, trustedProxies } = options;
  await using opened = new AsyncDisposableStack();
  const store = await openStore(options.database, { secretKey: options.secretKey, log });
  opened.defer(() => store.db.destroy());
  const demo = options.demo && (await createDemo(store.db, { defaults: options.demo, now: clock.now() }));
  const signIn = demo && oneTimeToken(demo.key.id, clock);
  await forgetOldRuns(store.db, options.chains);
  const watched = options.chains.map(chain => ({ chain, client: clientOf(chain, log) }));
  const outgoing = await openOutgoing(options.outgoing, { clock, log });
  opened.defer(() => outgoing.close());
  const { webhooksWithDue } = deliveryQueue({ ...store, clock, log });
  const counters = paymentsMetrics({ registry: metrics.registry, db: store.db, clock, log, webhooksWithDue });
  const workers = startWorkers(watched, {
    ...store,
    clock,
    log,
    outgoing,
    counters,
    unpaidSessionsMs: options.unpaidSessionsMs,
  });
  opened.defer(() => workers.stop());
  registerWatcherMetrics(metrics, workers.statuses);

  const routes = Promise.withResolvers<Middleware>();
  const plain = plainRouter();
  const app = createApp({
    log,
    metrics,
    clock,
    loggedRequests: options.loggedRequests,
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
    connections: boundedAs('payments', options.connections),
    formatError: paymentsErrorBody,
  });
  opened.defer(() => listening.close());
  const { isLate: isChainLate } = workers.statuses;
  const waits = stateWaits({ states: shownStates({ ...store, isChainLate }), clock, log });
  opened.defer(() => waits.close()); // before the server drains, which waits for every answer
  const publicUrl = options.publicUrl ?? listening.url;
  const context = {
    ...store,
    clock,
    log,
    publicUrl,
    chains: paymentChains(options.chains),
    sessionLifetimeMs: options.sessionLifetimeMs,
    limits: options.rateLimitPerMinute,
    validateResponses: options.validateResponses,
    clientOf: (id: number) => watched.find(({ chain }) => chain.id === id)?.client,
    outgoing,
    waits,
    isChainLate,
    oneTimeToken: signIn,
  };
  routes.resolve(inOrder(await paymentsRoutes(context, plain)));

  const closing = opened.move();
  let closed: Promise<void> | undefined;
  return {
    url: listening.url,
    demoKey: demo?.secret,
    dashboardUrl: signIn && `${listening.url}/dashboard#token=${signIn.token}`,
    status: async () => ({ chains: (await workers.statuses.all()).map(chainStatusBody) }),
    close: () => {
      closed ??= closing.disposeAsync();
      return closed;
    },
  };
}

function clientOf({ id, rpcUrls }: WatchedChain, log: Logger): ChainClient {
  return createChainClient({ id, rpcUrls, timeoutMs: NODE_TIMEOUT_MS, log });
}

/** How far an earlier chain of the same id was looked through says nothing of the one that there is now. */
async function forgetOldRuns(db: Db, chains: readonly WatchedChain[]): Promise<void> {
  const cursors = cursorStore(db);
  for (const { id, isOfThisRun } of chains) {
    if (isOfThisRun && (await cursors.find(id)) !== undefined) {
      await cursors.set(id, { blockNumber: 0, scannedAt: 0 });
      await cursors.setSettledBlock(id, 0);
    }
  }
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
