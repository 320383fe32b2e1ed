import type { Clock } from '../../src/lib/clock.ts';

/** A clock that stands still until a test advances it. */
export interface ManualClock extends Clock {
  /** Advances time and ends the sleeps that are over by then. */
  advance(ms: number): void;
  /** Number of sleeps that have not ended. */
  sleepers(): number;
}

interface Sleeper {
  readonly until: number;
  wake(): void;
}

/** Starts at the given UTC milliseconds. */
export function manualClock(start: number = Date.UTC(2026, 4, 4, 12)): ManualClock {
  let now = start;
  const sleeping = new Set<Sleeper>();
  return {
    now: () => now,
    sleep(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const sleeper: Sleeper = {
        until: now + ms,
        wake() {
          sleeping.delete(sleeper);
          resolve();
        },
      };
      const abort = () => {
        sleeping.delete(sleeper);
        reject(signal?.reason);
      };
      if (signal?.aborted === true) abort();
      else {
        sleeping.add(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
      }
      return promise;
    },
    advance(ms) {
      now += ms;
      for (const sleeper of [...sleeping]) if (sleeper.until <= now) sleeper.wake();
    },
    sleepers: () => sleeping.size,
  };
}
