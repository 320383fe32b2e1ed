import type { AttemptResult } from '../model/webhook.ts';

/** Results of attempts, kept until they are written. */
export interface Results {
  /** Keeps one. Resolves when it is written, or when `abandon` gave it up. */
  keep(result: AttemptResult): Promise<void>;
  /**
   * Has those that came first written together, or none. `isAll` is false when some stay unwritten or the last ones could
   * not be written. When `write` rejects its batch is kept, and so does this.
   */
  writeTogether<Answer>(
    write: (batch: readonly AttemptResult[], isAll: boolean) => Promise<Answer>,
  ): Promise<Answer>;
  /** Keeps nothing more. A result that is not written by then counts as cut off. */
  abandon(): void;
}

const LARGEST_BATCH = 500;

/**
 * A result is kept until it is written: as long as the database is away nothing else can take its delivery. One that can
 * never be written does not keep the others from it, because after a failure the batches are smaller.
 */
export function results(): Results {
  const waiting: { result: AttemptResult; done: () => void }[] = [];
  let largest = LARGEST_BATCH;
  let isAbandoned = false;

  return {
    keep(result) {
      return new Promise(done => {
        if (isAbandoned) done();
        else waiting.push({ result, done });
      });
    },
    async writeTogether(write) {
      const batch = waiting.splice(0, largest);
      const isAll = waiting.length === 0 && largest === LARGEST_BATCH;
      try {
        const answer = await write(
          batch.map(({ result }) => result),
          isAll,
        );
        largest = LARGEST_BATCH;
        for (const { done } of batch) done();
        return answer;
      } catch (error) {
        waiting.push(...batch);
        if (batch.length > 0) largest = Math.max(1, Math.floor(batch.length / 2));
        throw error;
      }
    },
    abandon() {
      isAbandoned = true;
      for (const { done } of waiting.splice(0)) done();
    },
  };
}
