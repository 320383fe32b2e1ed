import type { Db } from '../db/open.ts';
import { lookPauseMs, startWokenWorker } from '../db/woken-worker.ts';
import type { Clock } from '../lib/clock.ts';
import { type Logger, logAndGoOn } from '../lib/logger.ts';
import { startWorker } from '../lib/worker.ts';
import type { ChainClient } from '../node/client.ts';
import type { WatchedChainStatus } from './chain-status.ts';
import { dueWorkWorker } from './due-work.ts';
import type { PaymentsCounters } from './metrics.ts';
import { type PaymentChain, paymentChains } from './model/payment-chain.ts';
import { retentionWorker } from './retention.ts';
import type { Seals } from './secrets/sealed.ts';
import { chainShare } from './watcher/chain-share.ts';
import { expiryWorker } from './watcher/expiry.ts';
import type { ProvenIndex } from './watcher/proofs/indexed-blocks.ts';
import { refundExpiryWorker } from './watcher/refunds/refund-expiry.ts';
import { startChainWatcher } from './watcher/running-watcher.ts';

/** A chain to watch, with the client of its nodes. */
export interface WatchedThrough {
  readonly chain: PaymentChain;
  readonly client: ChainClient;
  /** Index of the same installation that this process can read. */
  readonly index: ProvenIndex | undefined;
}

interface SettlementDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  readonly counters: PaymentsCounters;
  /** Ids of the other processes that may lead a chain. */
  readonly others: (chainId: number) => readonly string[];
  /** See `RetentionOptions`. */
  readonly unpaidSessionsMs?: number | undefined;
}

/** Running background workers of the settlement. */
export interface SettlementWorkers {
  readonly watched: readonly WatchedChainStatus[];
  /** Resolves when all workers have ended. */
  stop(): Promise<void>;
}

const EXPIRY_PAUSE_MS = 1_000;
const RETENTION_PAUSE_MS = 10 * 60_000;
const DUE_WORK_PAUSE_MS = 5_000;

/** Starts a watcher for every chain, the expiry of sessions and refunds, and the removal of old rows. */
export function startSettlement(watched: readonly WatchedThrough[], deps: SettlementDeps): SettlementWorkers {
  const { db, clock, log, others } = deps;
  const chains = paymentChains(watched.map(({ chain }) => chain));
  const share = chainShare({ chainIds: watched.map(({ chain }) => chain.id), others, clock });
  const watchers = watched.map(({ chain, client, index }) => ({
    chain,
    ...startChainWatcher({
      ...deps,
      chain,
      client,
      index,
      share,
      onElected: () => deps.counters.leaderChange(`watcher:${chain.id}`),
    }),
  }));
  const running = [
    ...watchers,
    startWokenWorker(expiryWorker({ ...deps, chains }), {
      db,
      topic: 'sessions',
      pauseMs: () => lookPauseMs(db, EXPIRY_PAUSE_MS),
      clock,
      log,
    }),
    startWokenWorker(refundExpiryWorker({ ...deps, chains }), {
      db,
      topic: 'refunds',
      pauseMs: () => lookPauseMs(db, EXPIRY_PAUSE_MS),
      clock,
      log,
    }),
    startWorker(dueWorkWorker({ db, clock, topics: ['sessions', 'refunds'] }), {
      pauseMs: DUE_WORK_PAUSE_MS,
      clock,
      log,
    }),
    startWorker(retentionWorker(deps), { pauseMs: RETENTION_PAUSE_MS, clock, log }),
  ];
  return {
    watched: watchers,
    stop: async () =>
      void (await Promise.all(
        running.map(worker => worker.stop().catch(logAndGoOn(log, 'ending a worker'))),
      )),
  };
}
