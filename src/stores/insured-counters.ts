import { LRUCache } from 'lru-cache';
import {
  RateLimiterCluster,
  RateLimiterClusterMaster,
  RateLimiterMemory,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { counterOf, type RequestCounters, WINDOW_S } from '../lib/request-counters.ts';
import { type PatienceOptions, patience } from './patience.ts';
import { type StoreFailures, type StoreFailuresOptions, storeFailures } from './store-failures.ts';

/** Creates a limiter of the library. */
export type Limiters = (
  kind: string,
  points: number,
) => { consume(name: string, requests?: number): Promise<RateLimiterRes> };

/** Maximum number of refused clients in the cache. An evicted one is counted once more. */
const MAX_REFUSED = 10_000;

/**
 * Counters with memory as the fallback. A refused client is cached until its minute ends: it costs the store nothing,
 * and stays refused while the store is late.
 * The library's own insurance is not used, because it hides the reason of a failure and waits for a store that hangs.
 */
export function insured(
  limiters: Limiters,
  { failures, ...bounds }: PatienceOptions & { failures: StoreFailures },
): RequestCounters {
  const withTimeout = patience(bounds); // one for all limits, because a request may count in several
  const refusedUntil = new LRUCache<string, number>({ max: MAX_REFUSED });
  return (kind, points) => {
    const limiter = limiters(kind, points);
    const insurance = new RateLimiterMemory({ keyPrefix: kind, points, duration: WINDOW_S });
    const consume = async (name: string, requests?: number) => {
      const key = `${kind}:${name}`;
      const msLeft = (refusedUntil.get(key) ?? 0) - performance.now();
      if (msLeft > 0) throw new RateLimiterRes(0, msLeft, points + 1);
      try {
        const count = await withTimeout(() => limiter.consume(name, requests));
        failures.works();
        return count;
      } catch (reason) {
        if (reason instanceof RateLimiterRes) {
          refusedUntil.set(key, performance.now() + reason.msBeforeNext);
          throw reason;
        }
        failures.report(reason);
        return insurance.consume(name, requests);
      }
    };
    return counterOf({ consume }, points);
  };
}

/** Longest wait of a request for the parent process. */
const TIMEOUT_MS = 1_000;

/** Counts requests of the workers in this process's memory. Must run before the first worker starts. */
export function countForWorkers(): void {
  new RateLimiterClusterMaster();
}

/** Counters of a worker, held in its parent's memory. While the parent does not answer, the worker counts by itself. */
export function workerCounters(
  observers: Pick<StoreFailuresOptions, 'metrics' | 'clock' | 'log'>,
): RequestCounters {
  const meanwhile = 'the parent process does not answer: this worker counts requests by itself';
  const failures = storeFailures({ ...observers, store: 'limits', meanwhile });
  return insured(
    (kind, points) =>
      new RateLimiterCluster({ keyPrefix: kind, points, duration: WINDOW_S, timeoutMs: TIMEOUT_MS }),
    { failures, timeoutMs: TIMEOUT_MS },
  );
}
