import type { Db } from '../db/open.ts';
import type { Clock } from '../lib/clock.ts';
import { readIdentity, readProgress } from './schema/head.ts';

/** Progress of the index. Heights are null until known. */
export interface IndexStatus {
  head: number | null;
  nodeHead: number | null;
  lag: number | null;
  /** Lowest block in the index, or the one it will start with; 0 for the whole chain. */
  firstBlock: number;
  /** True when the index is at most one block behind the node's last known head and no state is left to read. */
  complete: boolean;
}

/** In-memory progress of an index. Reading it costs no query. */
export interface IndexProgress {
  /** Reads the progress from the database after a change and publishes it. */
  publish(): Promise<void>;
  sawNodeHead(number: number): void;
  status(): IndexStatus;
  revision(): string;
  epoch(): number;
  readonly identity: string;
  whenComplete(): Promise<void>;
  /** Milliseconds since the head changed, or since this process first read it. */
  headAgeMs(): number;
  /** Resolves at the next `publish`. */
  nextChange(): Promise<void>;
}

/**
 * Creates the progress of an index. The node's head counts as unknown `nodeHeadLastsMs` after it was last seen. An
 * empty index starts with `fromBlock`.
 */
export async function indexProgress(
  db: Db,
  { clock, nodeHeadLastsMs, fromBlock }: { clock: Clock; nodeHeadLastsMs: number; fromBlock: number },
): Promise<IndexProgress> {
  let { head, epoch, firstNumber, isStateFresh } = await readProgress(db);
  let nodeHead: number | null = null;
  let nodeHeadAt = 0;
  const identity = await readIdentity(db);
  let headChangedAt = clock.now();
  const completed = Promise.withResolvers<void>();
  let changed = Promise.withResolvers<void>();

  function status(): IndexStatus {
    const isKnown = nodeHead !== null && clock.now() - nodeHeadAt <= nodeHeadLastsMs;
    const lag = head === null || nodeHead === null || !isKnown ? null : Math.max(0, nodeHead - head.number);
    return {
      head: head?.number ?? null,
      nodeHead: isKnown ? nodeHead : null,
      lag,
      firstBlock: firstNumber ?? fromBlock,
      complete: lag !== null && lag <= 1 && isStateFresh,
    };
  }

  return {
    async publish() {
      const before = head?.hash;
      ({ head, epoch, firstNumber, isStateFresh } = await readProgress(db));
      if (head?.hash !== before) headChangedAt = clock.now();
      if (status().complete) completed.resolve();
      changed.resolve();
      changed = Promise.withResolvers<void>();
    },
    sawNodeHead(number) {
      nodeHead = number;
      nodeHeadAt = clock.now();
    },
    status,
    // State of the same head may take several runs to read, so the revision includes whether it is complete.
    revision: () =>
      head === null ? 'empty' : `${epoch}-${head.number}-${head.hash}-${isStateFresh ? 1 : 0}`,
    epoch: () => epoch,
    identity,
    whenComplete: () => completed.promise,
    headAgeMs: () => Math.abs(clock.now() - headChangedAt),
    nextChange: () => changed.promise,
  };
}
