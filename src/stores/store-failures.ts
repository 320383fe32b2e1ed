import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';

/** Failures of a store that the process can temporarily work without. */
export interface StoreFailures {
  /** Counts a failure, and logs at most one per minute. */
  report(error: unknown): void;
}

export interface StoreFailuresOptions {
  /** Label of the store in metrics. */
  readonly store: 'cache' | 'limits';
  /** Log message that says what happens without the store. */
  readonly meanwhile: string;
  readonly metrics: Pick<Metrics, 'storeFailures'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const MINUTE_MS = 60_000;

/** Creates the failure counter of one store. It appears in every scrape from now on. */
export function storeFailures({
  store,
  meanwhile,
  metrics,
  clock,
  log,
}: StoreFailuresOptions): StoreFailures {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  metrics.storeFailures(store, 0);
  return {
    report(error) {
      metrics.storeFailures(store, 1);
      unlogged += 1;
      if (clock.now() - loggedAt < MINUTE_MS) return;
      log.warn({ err: error, failures: unlogged }, meanwhile);
      loggedAt = clock.now();
      unlogged = 0;
    },
  };
}
