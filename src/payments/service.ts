import { setTimeout as delay } from 'node:timers/promises';
import { clockWarnings, databaseClock } from '../db/database-clock.ts';
import type { DatabaseOptions, Db } from '../db/open.ts';
import type { ReadinessCheck } from '../http/health.ts';
import type { Logger } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import { startWorker } from '../lib/worker.ts';
import { type ChainClient, createChainClient } from '../node/client.ts';
import {
  type ChainStatuses,
  chainStatuses,
  chainWarnings,
  paymentChainStatusBody,
  registerWatcherMetrics,
  unwatched,
} from './chain-status.ts';
import { beginEpochAfterMove } from './deposits/deposit-numbers.ts';
import type { DepositOffers } from './deposits/deposit-offers.ts';
import { depositStatus, depositWarnings, registerDepositMetrics } from './deposits/offer-status.ts';
import type { PaymentsListener, PaymentsListenerSettings } from './listener.ts';
import { type PaymentsCounters, paymentsMetrics, registerProcessGauge } from './metrics.ts';
import { type PaymentChain, paymentChains, watcherName } from './model/payment-chain.ts';
import { databaseReadiness, openStore, type Store } from './open-store.ts';
import type { OutgoingChannels, OutgoingOptions } from './outgoing.ts';
import { PAYMENTS_ROLES, type PaymentsRole, type RolePresence, startPresence } from './role-presence.ts';
import { currentKeyWorker } from './secrets/key-rotation.ts';
import type { SecretKeySource } from './secrets/secret-key.ts';
import { cursorStore } from './store/cursor-store.ts';
import type { ProvenIndex } from './watcher/proofs/indexed-blocks.ts';
import { deliveryQueue } from './webhooks/delivery-queue.ts';

/** A payment chain and its nodes, in order of preference. */
export interface WatchedChain extends PaymentChain {
  readonly rpcUrls: readonly string[];
  /** Most bytes of one answer of a node; 64 MiB when absent. */
  readonly maxAnswerBytes?: number | undefined;
  /** True for an embedded chain, which begins and ends with this process. */
  readonly isOfThisRun: boolean;
}

const NODE_TIMEOUT_MS = 10_000;
const KEY_PAUSE_MS = 60_000;
/** The database in sentences for the operator: its setting. */
const DATABASE_NAME = 'payments.database';

export interface PaymentsServiceOptions extends PaymentsListenerSettings {
  /** Roles of this process; all when absent. */
  readonly roles?: readonly PaymentsRole[] | undefined;
  readonly database: DatabaseOptions;
  readonly secretKey: SecretKeySource;
  readonly chains: readonly WatchedChain[];
  /** See `RetentionOptions`. */
  readonly unpaidSessionsMs?: number | undefined;
  readonly outgoing: OutgoingOptions;
  /** Index of a chain that this process can read; undefined for chains without one. */
  readonly indexOf?: ((chainId: number) => ProvenIndex | undefined) | undefined;
}

export interface PaymentsService {
  /** Undefined in a process without the role `payments`. */
  readonly api: PaymentsListener | undefined;
  /** Readiness checks by role. */
  readonly checks: Readonly<Partial<Record<PaymentsRole, Readonly<Record<string, ReadinessCheck>>>>>;
  /** State of the chains and of the processes, for the operator. */
  status(): Promise<object>;
  /** Stops accepting, drains, ends the workers and closes the database. */
  close(): Promise<void>;
}

/**
 * Composition root of the payments platform in one process. Loads only the modules that its roles need. Rejects when
 * the database, the secret key or the listening address is not available.
 */
export async function startPaymentsService(given: PaymentsServiceOptions): Promise<PaymentsService> {
  const { chains, metrics, log, roles = PAYMENTS_ROLES } = given;
  await using opened = new AsyncDisposableStack();
  const store = await openStore(given.database, { secretKey: given.secretKey, log });
  const { db } = store;
  opened.defer(() => db.destroy());
  const clock = await databaseClock(db, given.clock, { name: DATABASE_NAME, log });
  metrics.watchClock('payments', clock.aheadMs);
  if (await beginEpochAfterMove(db, clock.now()))
    log.warn({}, 'the database was restored or has moved: deposit addresses are numbered in a new epoch');
  const options = { ...given, clock };
  const { webhooksWithDue } = deliveryQueue({ ...store, clock, log });
  const counters = paymentsMetrics({ registry: metrics.registry, db, clock, log, webhooksWithDue });
  const presence = await startPresence({
    db,
    roles,
    chainIds: chains.map(({ id }) => id),
    // The chains that this process should watch may have changed.
    onChange: () => db.wakeups.wake(chains.map(({ id }) => watcherName(id))),
    clock,
    log,
  });
  opened.defer(() => presence.leave());
  registerProcessGauge(metrics.registry, presence.counts);
  const keys = startWorker(currentKeyWorker(store), { pauseMs: KEY_PAUSE_MS, clock, log });
  opened.defer(() => keys.stop());
  const clients = new Map(chains.map(chain => [chain.id, clientOf(chain, options)]));
  // A process that can write announces itself every few seconds.
  const checks = { database: databaseReadiness(db), announced: () => ({ ok: presence.isKnown() }) };
  const parts = { options, store, clients, presence, checks, counters, opened };
  const outgoing = roles.some(role => role !== 'settlement') ? await openOutgoingChannels(parts) : undefined;
  const statuses = roles.includes('settlement')
    ? await openSettlement(parts)
    : chainStatuses({ db, clock, watched: chains.map(unwatched) });
  if (roles.includes('delivery') && outgoing !== undefined) await openDelivery(parts, outgoing);
  // Runs before the watchers end, so that the other processes are ready to take over their chains.
  opened.defer(() => presence.leave());
  const deposits = roles.includes('payments') ? await openDeposits(parts) : undefined;
  const api =
    deposits !== undefined && outgoing !== undefined
      ? await openApi(parts, { outgoing, statuses, deposits })
      : undefined;

  const closing = opened.move();
  let closed: Promise<void> | undefined;
  return {
    api,
    checks: Object.fromEntries(roles.map(role => [role, checks])),
    status: async () => {
      const all = await statuses.all();
      return {
        chains: all.map(one => ({
          ...paymentChainStatusBody(one),
          deposit_addresses: depositStatus(deposits, one.chain.id),
        })),
        processes: presence.counts(),
        warnings: [
          ...presence.warnings(),
          ...chainWarnings(all),
          ...depositWarnings(deposits),
          ...clockWarnings(DATABASE_NAME, clock),
        ],
      };
    },
    close: () => {
      closed ??= closing.disposeAsync();
      return closed;
    },
  };
}

/** Parts that the roles of a process share. */
interface Parts {
  readonly options: PaymentsServiceOptions;
  readonly store: Store;
  /** Nodes by chain. */
  readonly clients: ReadonlyMap<number, ChainClient>;
  readonly presence: RolePresence;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly counters: PaymentsCounters;
  readonly opened: AsyncDisposableStack;
}

async function openOutgoingChannels({ options, opened }: Parts): Promise<OutgoingChannels> {
  const { openOutgoing } = await import('./outgoing.ts');
  const outgoing = await openOutgoing(options.outgoing, options);
  opened.defer(() => outgoing.close());
  return outgoing;
}

async function openSettlement({
  options,
  store,
  clients,
  presence,
  counters,
  opened,
}: Parts): Promise<ChainStatuses> {
  const { chains, metrics, clock, unpaidSessionsMs } = options;
  const { db } = store;
  const log = ofRole('settlement', options.log);
  await forgetOldRuns(db, chains);
  const { startSettlement } = await import('./settlement-workers.ts');
  const others = presence.othersOfChain;
  const watched = chains.flatMap(chain => {
    const client = clients.get(chain.id);
    return client === undefined ? [] : [{ chain, client, index: options.indexOf?.(chain.id) }];
  });
  const started = startSettlement(watched, { ...store, clock, log, counters, others, unpaidSessionsMs });
  opened.defer(() => started.stop());
  const statuses = chainStatuses({ db, clock, watched: started.watched });
  registerWatcherMetrics(metrics, statuses);
  return statuses;
}

async function openDelivery({ options, store, counters, opened }: Parts, outgoing: OutgoingChannels) {
  const { clock } = options;
  const log = ofRole('delivery', options.log);
  const { startDelivery } = await import('./delivery-workers.ts');
  const chains = paymentChains(options.chains);
  const started = startDelivery({
    ...store,
    clock,
    log,
    outgoing,
    counters,
    chains,
    publicUrl: options.publicUrl,
  });
  opened.defer(() => started.stop());
}

/** Time that a start waits for the nodes to confirm the deposit factories, in milliseconds. */
const FIRST_CHECK_MS = 2_000;

async function openDeposits({ options, clients, opened }: Parts): Promise<DepositOffers> {
  const { chains, metrics, clock } = options;
  const { startDepositOffers } = await import('./deposits/deposit-offers.ts');
  const log = ofRole('payments', options.log);
  const started = startDepositOffers({ chains, clientOf: id => clients.get(id), clock, log });
  opened.defer(() => started.stop());
  registerDepositMetrics(metrics, started);
  // The first sessions after a restart would ask for exact amounts.
  const waiting = new AbortController();
  const limit = delay(FIRST_CHECK_MS, undefined, waiting).catch(() => undefined);
  await Promise.race([started.firstCheck, limit]);
  waiting.abort();
  return started;
}

async function openApi(
  { options, store, clients, checks, opened }: Parts,
  {
    outgoing,
    statuses,
    deposits,
  }: { outgoing: OutgoingChannels; statuses: ChainStatuses; deposits: DepositOffers },
): Promise<PaymentsListener> {
  const { openPaymentsListener } = await import('./listener.ts');
  const deps = {
    store,
    chains: options.chains,
    statuses,
    outgoing,
    checks,
    deposits,
    clientOf: (id: number) => clients.get(id),
  };
  return openPaymentsListener(options, deps, opened);
}

/** Log whose lines name the role and the version. */
function ofRole(role: PaymentsRole, log: Logger): Logger {
  return log.child({ role, version: VERSION });
}

function clientOf(
  { id, rpcUrls, maxAnswerBytes }: WatchedChain,
  { clock, log }: Pick<PaymentsServiceOptions, 'clock' | 'log'>,
) {
  return createChainClient({ id, rpcUrls, timeoutMs: NODE_TIMEOUT_MS, maxAnswerBytes, clock, log });
}

/** Resets the progress of embedded chains, because it belongs to an earlier chain with the same id. */
async function forgetOldRuns(db: Db, chains: readonly WatchedChain[]): Promise<void> {
  const cursors = cursorStore(db);
  for (const { id, isOfThisRun } of chains) {
    if (isOfThisRun && (await cursors.find(id)) !== undefined) {
      await cursors.set(id, { blockNumber: 0, scannedAt: 0, headTime: undefined });
      await cursors.setSettledBlock(id, 0);
    }
  }
}
