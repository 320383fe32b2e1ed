import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { counterOf, type RequestCounters, WINDOW_S } from '../lib/request-counters.ts';
import { type PatienceOptions, patience } from './patience.ts';
import type { StoreFailures } from './store-failures.ts';

/** Makes a limiter of the library. */
export type Limiters = (kind: string, points: number) => { consume(name: string): Promise<RateLimiterRes> };

/**
 * Counters that fall back on memory. The library's own insurance would keep the reason of a failure to itself, and waits
 * for a store that hangs.
 */
export function insured(
  limiters: Limiters,
  { failures, ...bounds }: PatienceOptions & { failures: StoreFailures },
): RequestCounters {
  const patiently = patience(bounds); // one for all limits, because a request may count in several
  return (kind, points) => {
    const limiter = limiters(kind, points);
    const insurance = new RateLimiterMemory({ keyPrefix: kind, points, duration: WINDOW_S });
    const consume = async (name: string) => {
      try {
        return await patiently(() => limiter.consume(name));
      } catch (reason) {
        if (reason instanceof RateLimiterRes) throw reason;
        failures.report(reason);
        return insurance.consume(name);
      }
    };
    return counterOf({ consume }, points);
  };
}
