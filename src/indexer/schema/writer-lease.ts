import { readServerTime } from '../../db/database-clock.ts';
import { leadership } from '../../db/leader.ts';
import { type Db, isShared, type Transaction } from '../../db/open.ts';
import { lockedTransaction, transaction } from '../../db/transaction.ts';
import { announce } from '../../db/woken-worker.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { type RunningWorker, startWorker } from '../../lib/worker.ts';

/**
 * Runs work in a transaction of the process that writes the index.
 * @throws ReplacedWriter when another process has become the writer
 */
export type IndexWrite = <T>(work: (handle: Transaction) => Promise<T>) => Promise<T>;

/** Thrown when this process's lease has expired and another process writes the index. */
export class ReplacedWriter extends Error {
  constructor() {
    super('another process writes the index now');
    this.name = 'ReplacedWriter';
  }
}

/** Thrown in place of a write while the disk has too little space. */
export class PausedForSpace extends Error {
  constructor() {
    super('the disk of the index has too little space');
    this.name = 'PausedForSpace';
  }
}

/** Lease duration. Attempts are a third of it apart, so a takeover takes less than 30 s. */
const LEASE_MS = 15_000;

interface WriterLeaseOptions {
  readonly chainId: number;
  /** True for a process that reads what another process writes. */
  readonly isReadOnly: boolean;
  /** Milliseconds after the writer's last renewal until another process may write; 15,000 when absent. */
  readonly leaseMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when this process becomes the writer, but not when it remains the writer. */
  readonly onElected: () => void;
  /** Called on changes by another process: blocks were written, or the writer has stopped. */
  readonly onNews: () => void;
}

/** Exclusive right of one process to write the index of a chain. */
export type WriterLease = ReturnType<typeof writerLease>;

/**
 * Creates the writer lease. On PostgreSQL, any number of processes on any machines can take over.
 * An SQLite file is shared only by processes of one machine, and another one takes over when the writer exits.
 */
export function writerLease(db: Db, options: WriterLeaseOptions) {
  if (options.isReadOnly) return neverLease(db, options);
  return isShared(db) ? sharedLease(db, options) : fileLease(db, options);
}

/** On SQLite, the process that holds the file's claim writes until it exits. */
function fileLease(db: Db, { onElected, ...options }: WriterLeaseOptions) {
  let isHeld = false;
  const tell = writerLine(options);
  const write: IndexWrite = work => (isHeld ? transaction(db, work) : Promise.reject(new ReplacedWriter()));
  return {
    /**
     * Becomes or stays the writer; false when another process is. A shared lease queries the database only once per
     * third of its duration.
     */
    async hold() {
      if (isHeld) return true;
      isHeld = tell(db.claim?.take() ?? true);
      if (isHeld) onElected();
      return isHeld;
    },
    /** True when this process was the writer at its last check. */
    isHeld: () => isHeld,
    write,
    /** Starts renewing the lease while work goes on. */
    start() {},
    /** Releases the lease, so that another process can write at once. */
    async stop() {
      if (isHeld) db.claim?.release();
      isHeld = tell(false);
    },
  };
}

/** Lease of a process that never takes it. */
function neverLease(db: Db, { chainId, onNews }: WriterLeaseOptions): ReturnType<typeof fileLease> {
  const forget = db.wakeups.on(changesOf(chainId), onNews);
  return {
    async hold() {
      await readServerTime(db, db);
      return false;
    },
    isHeld: () => false,
    write: () => Promise.reject(new ReplacedWriter()),
    start() {},
    stop: async () => forget(),
  };
}

/** Logs when this process becomes or stops being the writer. Returns its argument. */
function writerLine({ chainId, log }: Pick<WriterLeaseOptions, 'chainId' | 'log'>) {
  let wasWriter = false;
  return (isWriter: boolean): boolean => {
    if (isWriter !== wasWriter)
      log.info({ chainId }, isWriter ? 'index writer started' : 'index writer stopped');
    wasWriter = isWriter;
    return isWriter;
  };
}

/** Topic announced after blocks were written. */
function changesOf(chainId: number): string {
  return `index:${chainId}`;
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
  const tell = writerLine({ chainId, log });
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
      // `abs`: the clock may have been set back.
      if (Math.abs(clock.now() - askedAt) < renewMs) return isHeld;
      askedAt = clock.now();
      isHeld = tell(await leader.hold());
      return isHeld;
    },
    isHeld: () => isHeld,
    write: work =>
      lockedTransaction(db, async handle => {
        isHeld = tell(await leader.confirm(handle));
        if (!isHeld) throw new ReplacedWriter();
        const result = await work(handle);
        announce(handle, changes);
        return result;
      }),
    start() {
      const worker = {
        name: `lease of the index of chain ${chainId}`,
        async runOnce() {
          if (isHeld) isHeld = tell(await leader.renew());
          return 0;
        },
      };
      heartbeat ??= startWorker(worker, { pauseMs: renewMs, longestPauseMs: renewMs, clock, log });
    },
    async stop() {
      for (const stopHearing of forget) stopHearing();
      await heartbeat?.stop();
      if (isHeld) await leader.resign();
      isHeld = tell(false);
    },
  };
}
