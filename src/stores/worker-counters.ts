import { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { type RequestCounters, WINDOW_S } from '../lib/request-counters.ts';
import { insured } from './insured-counters.ts';
import { type StoreFailuresOptions, storeFailures } from './store-failures.ts';

/** Longest wait of a request for the parent process. */
const PATIENCE_MS = 1_000;

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
      new RateLimiterCluster({ keyPrefix: kind, points, duration: WINDOW_S, timeoutMs: PATIENCE_MS }),
    { failures, timeoutMs: PATIENCE_MS },
  );
}
