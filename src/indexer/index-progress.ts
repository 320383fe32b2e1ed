import type { Db } from '../db/open.ts';
import type { Clock } from '../lib/clock.ts';
import { readIdentity, readProgress } from './schema/head.ts';

/** How far the index has come. Heights are null until known. */
export interface IndexStatus {
  head: number | null;
  nodeHead: number | null;
  lag: number | null;
  /** The lowest block that the index has, or will begin with; 0 when it has its whole chain. */
  firstBlock: number;
  /** Within one block of the node's head as last seen, and no state left to read. */
  complete: boolean;
}

/** What is known in memory about an index's progress, so that asking costs nothing. */
export interface IndexProgress {
  /** Looks at the database after a change and makes it public. */
  publish(): Promise<void>;
  sawNodeHead(number: number): void;
  status(): IndexStatus;
  revision(): string;
  epoch(): number;
  readonly identity: string;
  whenComplete(): Promise<void>;
  /** Time since the head changed, or since this process looked first, in milliseconds. */
  headAgeMs(): number;
  /** Resolves at the next `publish`. */
  nextChange(): Promise<void>;
}

/**
 * What was learnt of the node's head longer than `nodeHeadLastsMs` ago says nothing of the present. An empty index begins
 * with `fromBlock`.
 */
export async function indexProgress(
  db: Db,
  { clock, nodeHeadLastsMs, fromBlock }: { clock: Clock; nodeHeadLastsMs: number; fromBlock: number },
): Promise<IndexProgress> {
  let { head, firstNumber, isStateFresh } = await readProgress(db);
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
      ({ head, firstNumber, isStateFresh } = await readProgress(db));
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
    // State of the same head may be read in several runs, so whether all is read belongs to the revision.
    revision: () =>
      head === null ? 'empty' : `${head.epoch}-${head.number}-${head.hash}-${isStateFresh ? 1 : 0}`,
    epoch: () => head?.epoch ?? 0,
    identity,
    whenComplete: () => completed.promise,
    headAgeMs: () => Math.abs(clock.now() - headChangedAt),
    nextChange: () => changed.promise,
  };
}
