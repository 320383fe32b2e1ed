import { type Clock, systemClock } from '../../src/lib/clock.ts';

/**
 * The machine's clock with pauses cut to a tenth. For tests of a whole service, whose workers otherwise pause for
 * seconds between two rounds.
 */
export const briskClock: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};
