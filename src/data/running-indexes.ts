import type { ChainIndex } from '../indexer/index-service.ts';

/** The indexes of one process, as one. */
export interface RunningIndexes {
  start(): void;
  /** Brings every index to the head that its node has now. Rejects when a node is out of reach. */
  catchUp(): Promise<void>;
  /** Resolves when every index has caught up once; with `filled`, after that and up to the heads of then. */
  whenComplete(filled?: Promise<void>): Promise<void>;
  /** Blocks indexed so far and blocks to index, over all chains; undefined while a node has not told. */
  progress(): { indexed: number; total: number } | undefined;
  /** Sentences about indexes that seem to have no writer. */
  warnings(): readonly string[];
  stop(): Promise<void>;
}

/** The array may still grow before `start`. */
export function runningIndexes(indexes: readonly ChainIndex[]): RunningIndexes {
  async function catchUp(): Promise<void> {
    // A chain that is out of reach fails at once, and the others are waited for all the same.
    const runs = await Promise.allSettled(indexes.map(index => index.runOnce()));
    const failed = runs.find(run => run.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  return {
    start() {
      for (const index of indexes) index.start();
    },
    catchUp,
    async whenComplete(filled) {
      if (filled !== undefined) {
        await filled;
        // An index may not know of the last blocks yet.
        await catchUp();
      }
      await Promise.all(indexes.map(index => index.whenComplete()));
    },
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
    warnings: () => indexes.map(index => index.warning()).filter(text => text !== undefined),
    stop: async () => void (await Promise.all(indexes.map(index => index.stop()))),
  };
}
