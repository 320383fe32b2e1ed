import type { Logger } from '../../lib/logger.ts';
import type { AttemptResult } from '../model/webhook.ts';

/** Results of attempts, kept until they are written. */
export interface Results {
  /** Keeps one. Resolves when it is written, or given up. */
  keep(result: AttemptResult): Promise<void>;
  /**
   * Has those that came first written together, or none. `isAll` is false when some stay unwritten or the last ones could
   * not be written. When `write` rejects its batch is kept, and so does this. What its own row does not take is given up.
   */
  writeTogether<Answer>(write: Write<Answer>): Promise<Answer>;
  /** Keeps nothing more. A result that is not written by then counts as cut off. */
  abandon(): void;
}

type Write<Answer> = (batch: readonly AttemptResult[], isAll: boolean) => Promise<Answer>;

interface WaitingResult {
  readonly result: AttemptResult;
  readonly done: () => void;
}

const LARGEST_BATCH = 500;

export interface ResultsDeps {
  /** True for an error of `write` that the results themselves are the cause of, and will be again. */
  readonly isOfRows: (error: unknown) => boolean;
  readonly log: Logger;
}

/**
 * A result is kept until it is written: as long as the database is away nothing else can take its delivery. One that its
 * row does not take is given up, and counts as cut off. One that fails for another reason does not keep the others from
 * being written, because after a failure the batches are smaller.
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

  /** Writes as many that came first one by one, and gives up those that cannot be written. */
  async function writeEach(count: number, write: Write<unknown>): Promise<void> {
    for (let left = count; left > 0; left--) {
      const [first] = waiting;
      if (first === undefined) return;
      const { result } = first;
      await write([result], false).catch(error => {
        if (!isOfRows(error)) throw error;
        log.error(
          { err: error, deliveryId: result.id },
          'the result of an attempt cannot be written, and is given up',
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
