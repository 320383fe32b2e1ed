import type { Logger } from '../../lib/logger.ts';
import type { AttemptResult } from '../model/webhook.ts';

/** Results of attempts, queued until they are written. */
export interface Results {
  /** Queues a result. Resolves when it is written or dropped. */
  keep(result: AttemptResult): Promise<void>;
  /**
   * Writes the oldest results as one batch, which may be empty. `isAll` is false when some stay queued or after a
   * failed write. When `write` rejects, the batch stays queued and the promise rejects too. A result that its own row
   * refuses is dropped.
   */
  writeTogether<Answer>(write: Write<Answer>): Promise<Answer>;
  /** Drops all results, also later ones. Their attempts count as interrupted. */
  abandon(): void;
}

type Write<Answer> = (batch: readonly AttemptResult[], isAll: boolean) => Promise<Answer>;

interface WaitingResult {
  readonly result: AttemptResult;
  readonly done: () => void;
}

const LARGEST_BATCH = 500;

export interface ResultsDeps {
  /** True for an error of `write` that the rows themselves cause, so that a retry fails too. */
  readonly isOfRows: (error: unknown) => boolean;
  readonly log: Logger;
}

/**
 * Queue of results. A result stays until it is written, so an outage of the database loses none. A result that its row
 * refuses is dropped, and its attempt counts as interrupted. After any other failure the batches are smaller, so that
 * one bad result does not block the others.
 */
export function results({ isOfRows, log }: ResultsDeps): Results {
  const waiting: WaitingResult[] = [];
  let largest = LARGEST_BATCH;
  let isAbandoned = false;

  const writeTogether: Results['writeTogether'] = async write => {
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
      if (isAbandoned) {
        for (const { done } of batch) done();
        throw error;
      }
      if (batch.length === 0 || !isOfRows(error)) {
        waiting.push(...batch);
        if (batch.length > 0) largest = Math.max(1, Math.floor(batch.length / 2));
        throw error;
      }
      waiting.unshift(...batch);
    }
    await writeEach(batch.length, write);
    return writeTogether(write);
  };

  /** Writes the oldest results one by one and drops those that cannot be written. */
  async function writeEach(count: number, write: Write<unknown>): Promise<void> {
    for (let left = count; left > 0; left--) {
      const [first] = waiting;
      if (first === undefined) return;
      const { result } = first;
      await write([result], false).catch(error => {
        if (!isOfRows(error)) throw error;
        log.error(
          { err: error, deliveryId: result.id },
          'the result of an attempt cannot be written and is dropped',
        );
      });
      waiting.shift();
      first.done();
    }
  }

  return {
    keep(result) {
      return new Promise(done => {
        if (isAbandoned) done();
        else waiting.push({ result, done });
      });
    },
    writeTogether,
    abandon() {
      isAbandoned = true;
      for (const { done } of waiting.splice(0)) done();
    },
  };
}
