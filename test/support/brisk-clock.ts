import { type Clock, systemClock } from '../../src/lib/clock.ts';

/**
 * The machine's clock with pauses cut to a tenth. For tests of a whole service, whose workers otherwise pause for
 * seconds between two rounds.
 */
export const briskClock: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};

/** The brisk clock, which a test can set forward. */
export interface LeapingClock extends Clock {
  advance(ms: number): void;
}

export function leapingClock(): LeapingClock {
  let aheadMs = 0;
  return {
    now: () => briskClock.now() + aheadMs,
    sleep: briskClock.sleep,
    advance(ms) {
      aheadMs += ms;
    },
  };
}
