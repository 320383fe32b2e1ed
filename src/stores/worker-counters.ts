import { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { type RequestCounters, WINDOW_S } from '../lib/request-counters.ts';
import { insured } from './insured-counters.ts';
import { type StoreFailuresOptions, storeFailures } from './store-failures.ts';

/** Longest time that a request waits for the parent. */
const PATIENCE_MS = 1_000;

/** Counts in the memory of this process what its workers ask for. To be called before the first of them starts. */
export function countForWorkers(): void {
  new RateLimiterClusterMaster();
}

/** Counters of a worker, in the memory of its parent. While that does not answer, the worker counts by itself. */
export function workerCounters(
  observers: Pick<StoreFailuresOptions, 'metrics' | 'clock' | 'log'>,
): RequestCounters {
  const meanwhile = 'the parent does not count requests: this worker counts by itself';
  const failures = storeFailures({ ...observers, store: 'limits', meanwhile });
  return insured(
    (kind, points) =>
      new RateLimiterCluster({ keyPrefix: kind, points, duration: WINDOW_S, timeoutMs: PATIENCE_MS }),
    { failures, timeoutMs: PATIENCE_MS },
  );
}
