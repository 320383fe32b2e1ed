import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AttemptResult } from '../model/webhook.ts';

/** Writes results as they come, those that are ready together in one transaction. */
export interface Results {
  /** Resolves when it is written, or when `abandon` gave it up. */
  write(result: AttemptResult): Promise<void>;
  /** Whether they cannot be written for now. */
  isStuck(): boolean;
  /** Writes nothing more. What is not written by then counts as cut off. */
  abandon(): void;
}

export interface ResultsDeps {
  readonly settleAll: (results: readonly AttemptResult[]) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Logger;
}

const LARGEST_BATCH = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * A result is kept until it is written: as long as the database is away nothing else can take its delivery. One that can
 * never be written does not keep the others from it, because after a failure the batches are smaller.
 */
export function results({ settleAll, clock, log }: ResultsDeps): Results {
  const waiting: { result: AttemptResult; done: () => void }[] = [];
  const abandoned = new AbortController();
  let isWriting = false;
  let failures = 0;

  async function writeWaiting(): Promise<void> {
    for (let largest = LARGEST_BATCH; waiting.length > 0 && !abandoned.signal.aborted; ) {
      const batch = waiting.splice(0, largest);
      try {
        await settleAll(batch.map(({ result }) => result));
        failures = 0;
        largest = LARGEST_BATCH;
        for (const { done } of batch) done();
      } catch (error) {
        failures += 1;
        log.error({ err: error, results: batch.length, failures }, 'results of deliveries are written again');
        waiting.push(...batch);
        largest = Math.max(1, Math.floor(batch.length / 2));
        await pause();
      }
    }
    for (const { done } of waiting.splice(0)) done();
    // At once: whoever is told now may have the next result already.
    isWriting = false;
  }

  /** Longer with every failure, and over at once when it is abandoned. */
  async function pause(): Promise<void> {
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    await clock.sleep(ms, abandoned.signal).catch(error => {
      if (!abandoned.signal.aborted) throw error;
    });
  }

  return {
    write(result) {
      return new Promise(done => {
        if (abandoned.signal.aborted) {
          done();
          return;
        }
        waiting.push({ result, done });
        if (isWriting) return;
        isWriting = true;
        // After those that end in the same turn.
        setImmediate(() => {
          void writeWaiting();
        });
      });
    },
    isStuck: () => failures > 0,
    abandon: () => abandoned.abort(),
  };
}
