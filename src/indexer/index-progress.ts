import type { Db } from '../db/open.ts';
import type { Clock } from '../lib/clock.ts';
import { readIdentity, readProgress } from './schema/head.ts';

/** Progress of the index. Heights are null until known. */
export interface IndexStatus {
  head: number | null;
  nodeHead: number | null;
  lag: number | null;
  /** The lag by the last head that the node reported, however long ago; null before its first answer. */
  lastLag: number | null;
  /**
   * Seconds since the time of the head's block; 0 while the index is known to have every block of its node, null while it
   * is empty. It is also known while the node is silent.
   */
  lagSeconds: number | null;
  /** Lowest block in the index, or the one it will start with; 0 for the whole chain. */
  firstBlock: number;
  /**
   * True when the index is at most one block behind the node's last known head and its state has been read: at first
   * all state, later that of all but the newest blocks, because the head of a busy chain always has some.
   */
  complete: boolean;
  /** Number of balances, owners and tokens whose last read failed; 1,000 stands for more. */
  unreadState: number;
  /** Number of blocks without a part that the node could not give. */
  unreadBlocks: number;
  /** Number of indexed blocks. */
  blocks: number;
  /** Number of those that were recomputed up to their hash. */
  provenBlocks: number;
  /** True when the head has not changed for a minute although the node has further blocks or is silent. */
  stalled: boolean;
}

/** In-memory progress of an index. Reading it costs no query. */
export interface ProgressPublisher {
  /** Reads the progress from the database after a change and publishes it. */
  publish(): Promise<void>;
  sawNodeHead(number: number): void;
  status(): IndexStatus;
  revision(): string;
  epoch(): number;
  readonly identity: string;
  whenComplete(): Promise<void>;
  /** Resolves at the next `publish`. */
  nextChange(): Promise<void>;
}

/** Blocks by which the state of an index may be behind, once it has been complete. */
const STATE_LAG = 16;

/** Time after which an index that should move, and does not, is stalled (Decision 286). */
const STALLED_MS = 60_000;

/**
 * Creates the progress of an index. The node's head counts as unknown `nodeHeadLastsMs` after it was last seen. An
 * empty index starts with `fromBlock`.
 */
export async function indexProgress(
  db: Db,
  { clock, nodeHeadLastsMs, fromBlock }: { clock: Clock; nodeHeadLastsMs: number; fromBlock: number },
): Promise<ProgressPublisher> {
  /** Head at which the blocks were first complete; undefined until then. */
  let caughtUpAt: number | undefined;
  let wasComplete = false;
  let stored = await readProgress(db, Number.MAX_SAFE_INTEGER);
  let nodeHead: number | null = null;
  const identity = await readIdentity(db);
  let headChangedAt = clock.now();
  /** Time since which the node has had blocks that the index has not; null while the index has them all. */
  let behindSince: number | null = null;
  /** Time at which the node last reported its head, or at which it was first awaited. */
  let heardAt = clock.now();
  const completed = Promise.withResolvers<void>();
  let changed = Promise.withResolvers<void>();

  function compare(): void {
    if (nodeHead !== null && nodeHead > (stored.head?.number ?? -1)) behindSince ??= clock.now();
    else behindSince = null;
  }

  function secondsSince(time: number | undefined): number | null {
    return time === undefined ? null : Math.max(0, Math.round((clock.now() - time) / 1_000));
  }

  function staleUpTo(): number {
    if (wasComplete) return (stored.head?.number ?? 0) - STATE_LAG;
    return caughtUpAt ?? Number.MAX_SAFE_INTEGER;
  }

  function status(): IndexStatus {
    const { head, isStateFresh, unreadState, unreadBlocks, blocks, provenBlocks } = stored;
    const isKnown = nodeHead !== null && clock.now() - heardAt <= nodeHeadLastsMs;
    const lastLag = head === null || nodeHead === null ? null : Math.max(0, nodeHead - head.number);
    const lag = isKnown ? lastLag : null;
    const isPast = (time: number | null) => time !== null && Math.abs(clock.now() - time) >= STALLED_MS;
    return {
      stalled: isPast(headChangedAt) && (isPast(behindSince) || isPast(heardAt)),
      head: head?.number ?? null,
      nodeHead: isKnown ? nodeHead : null,
      lag,
      lastLag,
      lagSeconds: lag === 0 ? 0 : secondsSince(head?.timestamp),
      firstBlock: stored.firstNumber ?? fromBlock,
      complete: lag !== null && lag <= 1 && isStateFresh,
      unreadState,
      unreadBlocks,
      blocks,
      provenBlocks,
    };
  }

  return {
    async publish() {
      const before = stored.head?.hash;
      stored = await readProgress(db, staleUpTo());
      if (stored.head?.hash !== before) headChangedAt = clock.now();
      compare();
      const { lag, complete } = status();
      if (lag !== null && lag <= 1) caughtUpAt ??= stored.head?.number;
      if (complete) {
        wasComplete = true;
        completed.resolve();
      }
      changed.resolve();
      changed = Promise.withResolvers<void>();
    },
    sawNodeHead(number) {
      nodeHead = number;
      heardAt = clock.now();
      compare();
    },
    status,
    // State of the same head is read after it, and parts of older blocks may arrive later: `fills` counts both.
    revision() {
      const { head, epoch, fills } = stored;
      return head === null ? 'empty' : `${epoch}-${head.number}-${head.hash}-${fills}`;
    },
    epoch: () => stored.epoch,
    identity,
    whenComplete: () => completed.promise,
    nextChange: () => changed.promise,
  };
}

/** Longest wait of a look-up for a block that the node has and the index does not have yet. */
const ARRIVES_WITHIN_MS = 500;

/** Repeats a look-up after each change of the index until it finds something, for at most 500 ms. */
export async function untilFound<Value>(
  lookUp: () => Promise<Value | null>,
  { progress, clock, stopping }: { progress: ProgressPublisher; clock: Clock; stopping: AbortSignal },
): Promise<Value | null> {
  const ended = new AbortController();
  let isOver = false;
  const over = clock.sleep(ARRIVES_WITHIN_MS, ended.signal).then(
    () => {
      isOver = true;
    },
    () => undefined,
  );
  try {
    for (;;) {
      const changed = progress.nextChange(); // before the look-up, so that no change is missed in between
      const found = await lookUp();
      if (found !== null || isOver) return found;
      await Promise.race([changed, over]);
      if (stopping.aborted) return null; // its database is closed by now
    }
  } finally {
    ended.abort();
  }
}
