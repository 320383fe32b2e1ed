import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';

/** Failures of a store that the program can do without for a while. */
export interface StoreFailures {
  /** Counts a failure, and logs at most one per minute. */
  report(error: unknown): void;
}

export interface StoreFailuresOptions {
  /** Label of the store in metrics. */
  readonly store: 'cache' | 'limits';
  /** What is done without the store, as the message of the log. */
  readonly meanwhile: string;
  readonly metrics: Pick<Metrics, 'storeFailures'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const MINUTE_MS = 60_000;

/** The failures of one store. Its counter is in every scrape from now on. */
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
