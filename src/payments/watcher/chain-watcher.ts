import type { Db } from '../../db/open.ts';
import type { Clock } from '../../lib/clock.ts';
import { boundedLines, type Logger, logAndGoOn } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import type { ChainClient } from '../../node/client.ts';
import type { PaymentChain } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import { chainLooks, type LookStatus } from './chain-looks.ts';
import type { ChainShare } from './chain-share.ts';
import { effects, type Failpoint, LeadershipLost } from './look/look.ts';
import { LookSpent, NodeLost, nodePool } from './node/node-pool.ts';
import type { ProvenIndex } from './proofs/indexed-blocks.ts';
import { watchLease } from './watch-lease.ts';

export interface ChainWatcherOptions {
  readonly chain: PaymentChain;
  readonly client: ChainClient;
  /** Index of the same installation that this process can read; absent without one. */
  readonly index?: ProvenIndex | undefined;
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  /** Longest time without a watcher after this process was killed, in milliseconds; 20 s when absent. */
  readonly leaseMs?: number;
  readonly fault?: Failpoint;
  /** The chains that this process may lead; absent when no other process watches. */
  readonly share?: ChainShare | undefined;
  /** Called when this watcher becomes the leader of its chain. */
  readonly onElected?: (() => void) | undefined;
}

/** Progress of a watcher that leads. All undefined while it does not lead. */
export interface WatcherStatus extends LookStatus {
  /** Host name of the node that answered last; undefined until one did. */
  readonly node: string | undefined;
  /** True when the nodes of a chain that makes blocks regularly show no new ones. */
  readonly standsStill: boolean;
  /** Contradictions of the nodes of the chain, as far as this process knows. */
  readonly contradictions: Pick<ChainClient['contradictions'], 'current' | 'counts'>;
}

/** Finds payments on one chain and settles them. Only one watcher of a chain works at a time. */
export interface ChainWatcher extends Worker {
  status(): WatcherStatus;
  /**
   * Pause after a look without news: the chain's block time, at least 2 s. Longer while nothing is open and a new
   * session would wake the watcher.
   */
  pauseMs(): number;
  /** Ends the idle state, because a session may have been opened. */
  wake(): void;
  /**
   * Extends the lease of a watcher that leads: after a third of it during a look, and otherwise after two thirds, when
   * the next look is late. Returns the milliseconds until the next call. The running look ends when the lease is lost
   * or cannot be extended, and when it does not move.
   */
  renew(): Promise<number>;
  /** Lets another watcher of the chain lead immediately. */
  resign(): Promise<void>;
}

const LEASE_MS = 20_000;
/** Pause while nothing is open and a new session wakes the watcher, or while another watcher leads. */
const IDLE_PAUSE_MS = 10_000;

/** Creates the watcher of one chain. Rounds requested at the same time run one after another. */
export function chainWatcher(options: ChainWatcherOptions): ChainWatcher {
  const { chain, client, index, db, seals, clock, log, leaseMs = LEASE_MS, fault = () => {} } = options;
  const lease = watchLease({
    db,
    chainId: chain.id,
    leaseMs,
    clock,
    share: options.share,
    log,
    onElected() {
      looks.forgetWatched();
      options.onElected?.();
    },
  });
  const line = boundedLines({ clock, log });
  const effect = effects({ db, seals, clock, line, lease, fault });
  const pool = nodePool(client);
  const looks = chainLooks({ chain, client, index, pool, db, seals, clock, log, line, effect, fault });
  let lastRun: Promise<unknown> = Promise.resolve();
  let isLooking = false;
  /** True while another watcher leads. */
  let isFollower = false;
  let ending = new AbortController();

  async function lead(signal: AbortSignal): Promise<number> {
    await fault('look');
    if (await lease.hold()) {
      isFollower = false;
      return looks.run(signal);
    }
    isFollower = !lease.isWaiting();
    await looks.pause();
    return 0;
  }

  async function runOnce(signal: AbortSignal): Promise<number> {
    ending = new AbortController();
    const ended = AbortSignal.any([signal, ending.signal]);
    pool.begin(ended);
    isLooking = true;
    try {
      return await lead(ended);
    } catch (error) {
      await looks.forget();
      if (error instanceof LeadershipLost) {
        lease.lose();
        log.info({ chainId: chain.id }, 'another watcher has taken over');
        return 0;
      }
      if (error instanceof NodeLost || error instanceof LookSpent) {
        log.info({ chainId: chain.id, err: error }, 'a look ended early and starts over');
        return 0;
      }
      // Another process may reach a node of this chain.
      await lease.resign().catch(logAndGoOn(log, 'resigning as a watcher'));
      throw error;
    } finally {
      isLooking = false;
    }
  }

  async function renew(): Promise<number> {
    try {
      return await lease.renew(isLooking ? pool.traffic().calls : undefined);
    } catch (error) {
      ending.abort(error);
      if (!(error instanceof LeadershipLost)) throw error;
      return leaseMs / 3;
    }
  }

  return {
    name: `watcher of chain ${chain.id}`,
    runOnce(signal) {
      const run = lastRun.then(() => runOnce(signal));
      lastRun = run.catch(() => {});
      return run;
    },
    status() {
      const { head, scannedAt } = looks.status();
      const isLead = head !== undefined;
      return {
        head,
        scannedAt,
        node: isLead ? pool.host() : undefined,
        standsStill: isLead && looks.standsStill(),
        contradictions: client.contradictions,
      };
    },
    pauseMs() {
      const isIdle = (isFollower || looks.isIdle()) && db.wakeups.isListening();
      return Math.max(looks.pauseMs(), isIdle ? IDLE_PAUSE_MS : 0);
    },
    wake() {
      isFollower = false;
      looks.wake();
    },
    renew,
    async resign() {
      await looks.forget();
      await lease.resign();
    },
  };
}
