import type { ChainClient } from '../chain/client.ts';
import type { Db } from '../db/open.ts';
import type { Check } from '../http/health.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Seals } from '../lib/sealed.ts';
import { startWorker } from '../lib/worker.ts';
import { type PaymentChain, paymentChains } from './model/payment-chain.ts';
import type { Outgoing } from './outgoing.ts';
import { retentionWorker } from './retention.ts';
import { cursorStore } from './store/cursor-store.ts';
import { startTellers } from './tellers.ts';
import { startChainWatcher } from './watcher/chain-watcher.ts';
import { expiryWorker } from './watcher/expiry.ts';

/** A chain to be watched, through its nodes. */
export interface WatchedThrough {
  readonly chain: PaymentChain;
  readonly client: ChainClient;
}

export interface WorkersDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  /** How merchants are told what happened. */
  readonly outgoing: Outgoing;
}

/** What goes on without being asked for. */
export interface Workers {
  /** By chain: whether it was looked through lately, by this process or another one. */
  readonly readiness: Readonly<Record<string, Check>>;
  /** Resolves when everything that was begun has ended. */
  stop(): Promise<void>;
}

/** A chain that nobody has looked through for this long is not in order. */
const LATE_MS = 60_000;
const EXPIRY_PAUSE_MS = 1_000;
const RETENTION_PAUSE_MS = 10 * 60_000;

/** Starts a watcher for every chain, the expiry of sessions, what tells merchants, and the removal of what is too old. */
export function startWorkers(watched: readonly WatchedThrough[], deps: WorkersDeps): Workers {
  const { db, clock, log } = deps;
  const chains = paymentChains(watched.map(({ chain }) => chain));
  const running = [
    ...watched.map(one => startChainWatcher({ ...one, ...deps })),
    startWorker(expiryWorker(deps), { pauseMs: EXPIRY_PAUSE_MS, clock, log }),
    startWorker(retentionWorker(deps), { pauseMs: RETENTION_PAUSE_MS, clock, log }),
    ...startTellers({ ...deps, chains }),
  ];
  const check = async (chainId: number) => {
    // Of the database, because of several processes only one watches a chain.
    const cursor = await cursorStore(db).find(chainId);
    if (cursor === undefined) return { ok: false, detail: 'not looked through yet' };
    const ageMs = clock.now() - cursor.scannedAt;
    const detail = `at block ${cursor.blockNumber}`;
    return { ok: ageMs <= LATE_MS, detail };
  };
  return {
    readiness: Object.fromEntries(watched.map(({ chain: { id } }) => [`chain ${id}`, () => check(id)])),
    stop: async () => void (await Promise.all(running.map(worker => worker.stop()))),
  };
}
