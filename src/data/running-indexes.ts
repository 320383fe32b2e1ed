import { clockWarnings } from '../db/database-clock.ts';
import type { ChainIndex } from '../indexer/index-service.ts';

/** All indexes of one process. */
export interface RunningIndexes {
  start(): void;
  /** Brings every index to its node's current head. Rejects when a node is unreachable. */
  catchUp(): Promise<void>;
  /** Resolves when every index has caught up once. */
  whenComplete(): Promise<void>;
  /** Blocks indexed so far and blocks to index, over all chains; undefined until every node has reported its head. */
  progress(): { indexed: number; total: number } | undefined;
  /** Milliseconds by which the clock of this machine is ahead of those of the databases, at the most distant one. */
  aheadMs(): number;
  /** Warnings about indexes that do not move although they should, and about the clock of this machine. */
  warnings(): readonly string[];
  stop(): Promise<void>;
}

/** Groups indexes for one life cycle. The array may still grow before `start`. */
export function runningIndexes(indexes: readonly ChainIndex[]): RunningIndexes {
  async function catchUp(): Promise<void> {
    // An unreachable chain fails at once, but the other chains are still awaited.
    const runs = await Promise.allSettled(indexes.map(index => index.runOnce()));
    const failed = runs.find(run => run.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  function aheadMs(): number {
    const distances = indexes.map(index => index.aheadMs());
    return distances.reduce((most, ms) => (Math.abs(ms) > Math.abs(most) ? ms : most), 0);
  }

  return {
    start() {
      for (const index of indexes) index.start();
    },
    catchUp,
    whenComplete: async () => void (await Promise.all(indexes.map(index => index.whenComplete()))),
    progress() {
      let indexed = 0;
      let total = 0;
      for (const index of indexes) {
        const { head, nodeHead } = index.status();
        if (nodeHead === null) return undefined;
        indexed += (head ?? -1) + 1;
        total += nodeHead + 1;
      }
      return { indexed, total };
    },
    aheadMs,
    warnings: () => [
      ...indexes.map(index => index.warning()).filter(text => text !== undefined),
      ...clockWarnings('the database of an index', { aheadMs }),
    ],
    stop: async () => void (await Promise.all(indexes.map(index => index.stop()))),
  };
}
