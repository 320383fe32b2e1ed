import { type Clock, systemClock } from '../../src/lib/clock.ts';

/**
 * This machine's time, in which pauses last a tenth. For tests of a whole service, whose workers would otherwise rest
 * for seconds between two looks at a chain.
 */
export const briskClock: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};
