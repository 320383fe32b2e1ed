import { leadership } from '../../db/leader.ts';
import { type Db, isShared, type Transaction } from '../../db/open.ts';
import { lockedTransaction, transaction } from '../../db/transaction.ts';
import { announce } from '../../db/woken-worker.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { type RunningWorker, startWorker } from '../../lib/worker.ts';

/** Runs work in a transaction of the process that writes the index. @throws ReplacedWriter when another one does now */
export type IndexWrite = <T>(work: (handle: Transaction) => Promise<T>) => Promise<T>;

/** Another process writes the index: this one's lease had run out. */
export class ReplacedWriter extends Error {
  constructor() {
    super('another process writes the index now');
    this.name = 'ReplacedWriter';
  }
}

/** With a third of it until the next one asks, less than 30 s. */
const LEASE_MS = 15_000;

interface WriterLeaseOptions {
  readonly chainId: number;
  /** True for a process that only reads what another one writes. */
  readonly isReadOnly: boolean;
  /** How long nobody else writes after the writer fell silent, in milliseconds; 15 s when absent. */
  readonly leaseMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when this process becomes the writer, not when it stays it. */
  readonly onElected: () => void;
  /** Called when others are told of a change: blocks were written, or the writer has stopped. */
  readonly onNews: () => void;
}

/** The right to write the index of a chain, which one process at a time has. */
export type WriterLease = ReturnType<typeof writerLease>;

/**
 * The lease on PostgreSQL, for which any number of processes on any machines stand by. An SQLite file has processes of one
 * machine, of which the others follow when the writer ends.
 */
export function writerLease(db: Db, options: WriterLeaseOptions) {
  if (options.isReadOnly) return neverLease(db, options);
  return isShared(db) ? sharedLease(db, options) : fileLease(db, options.onElected);
}

/** Of the processes that open an SQLite file, the one that has its claim writes until it ends. */
function fileLease(db: Db, onElected: () => void) {
  let isHeld = false;
  const write: IndexWrite = work => (isHeld ? transaction(db, work) : Promise.reject(new ReplacedWriter()));
  return {
    /** Becomes or stays the writer; false when another process is. Asks the database only now and then. */
    async hold() {
      if (isHeld) return true;
      isHeld = db.claim?.take() ?? true;
      if (isHeld) onElected();
      return isHeld;
    },
    /** True when this process was the writer when it last asked. */
    isHeld: () => isHeld,
    write,
    /** Longest rest of a process that is not the writer, in milliseconds; it is told of changes if it can be. */
    followPauseMs: (pollMs: number) => pollMs,
    /** Renews the lease while work goes on. */
    start() {},
    /** Lets another process write at once. */
    async stop() {
      if (isHeld) db.claim?.release();
      isHeld = false;
    },
  };
}

/** The lease of a process that never asks for it. */
function neverLease(
  db: Db,
  { chainId, leaseMs = LEASE_MS, onNews }: WriterLeaseOptions,
): ReturnType<typeof fileLease> {
  const forget = db.wakeups.on(changesOf(chainId), onNews);
  return {
    hold: async () => false,
    isHeld: () => false,
    write: () => Promise.reject(new ReplacedWriter()),
    followPauseMs: pollMs => followPauseMs(db, pollMs, leaseMs),
    start() {},
    stop: async () => forget(),
  };
}

/** Topic that is announced when blocks were written. */
function changesOf(chainId: number): string {
  return `index:${chainId}`;
}

function followPauseMs(db: Db, pollMs: number, leaseMs: number): number {
  return db.wakeups.isListening() ? Math.max(pollMs, leaseMs / 3) : pollMs;
}

function sharedLease(
  db: Db,
  { chainId, leaseMs = LEASE_MS, clock, log, onElected, onNews }: WriterLeaseOptions,
): ReturnType<typeof fileLease> {
  const name = `index-writer:${chainId}`;
  const changes = changesOf(chainId);
  const renewMs = leaseMs / 3;
  const leader = leadership(db, { name, leaseMs, clock, onElected });
  let isHeld = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  let heartbeat: RunningWorker | undefined;
  const forget = [
    db.wakeups.on(changes, () => {
      if (!isHeld) onNews();
    }),
    db.wakeups.on(name, () => {
      askedAt = Number.NEGATIVE_INFINITY;
      onNews();
    }),
  ];

  return {
    async hold() {
      if (clock.now() - askedAt < renewMs) return isHeld;
      askedAt = clock.now();
      isHeld = await leader.hold();
      return isHeld;
    },
    isHeld: () => isHeld,
    write: work =>
      lockedTransaction(db, async handle => {
        isHeld = await leader.confirm(handle);
        if (!isHeld) throw new ReplacedWriter();
        const result = await work(handle);
        announce(handle, changes);
        return result;
      }),
    followPauseMs: pollMs => followPauseMs(db, pollMs, leaseMs),
    start() {
      const worker = {
        name: `lease of the index of chain ${chainId}`,
        async runOnce() {
          if (isHeld) isHeld = await leader.renew();
          return 0;
        },
      };
      heartbeat ??= startWorker(worker, { pauseMs: renewMs, longestPauseMs: renewMs, clock, log });
    },
    async stop() {
      for (const stopHearing of forget) stopHearing();
      await heartbeat?.stop();
      if (isHeld) await leader.resign();
      isHeld = false;
    },
  };
}
