import type { Metrics } from '../http/metrics.ts';
import type { ClockAndLog } from '../lib/logger.ts';

/** Failures of a store that the process can temporarily work without. */
export interface StoreFailures {
  /** Counts a failure. Logs the first one of each kind, at most once per minute. */
  report(error: unknown): void;
  /** Notes that the store answers. Logs its recovery after five seconds without a failure. */
  works(): void;
}

export interface StoreFailuresOptions extends ClockAndLog {
  /** Label of the store in metrics. */
  readonly store: 'cache' | 'limits';
  /** Log message that says what happens without the store. */
  readonly meanwhile: string;
  readonly metrics: Pick<Metrics, 'storeFailures'>;
}

const MINUTE_MS = 60_000;
/** Most kinds of failures that are logged per minute. */
const MAX_KINDS = 5;
/** Time without a failure after which a store has recovered. Reads may succeed while writes fail. */
const STEADY_MS = 5_000;
/** Kind of a refusal by Redis: the first word of its message, such as OOM or READONLY. */
const ERROR_KIND = /^[A-Z]{2,}\b/;

/** Creates the failure counter of one store. It appears in every scrape from now on. */
export function storeFailures({
  store,
  meanwhile,
  metrics,
  clock,
  log,
}: StoreFailuresOptions): StoreFailures {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  /** Kinds of the failures that were logged since `loggedAt`. */
  const kinds = new Set<string>();
  let isFailing = false;
  metrics.storeFailures(store, 0);
  return {
    report(error) {
      metrics.storeFailures(store, 1);
      unlogged += 1;
      isFailing = true;
      failedAt = clock.now();
      if (failedAt - loggedAt >= MINUTE_MS) {
        kinds.clear();
        loggedAt = failedAt;
      }
      const kind = kindOf(error);
      if (kinds.has(kind) || kinds.size >= MAX_KINDS) return;
      kinds.add(kind);
      log.warn({ err: error, failures: unlogged }, meanwhile);
      unlogged = 0;
    },
    works() {
      // `abs`: the clock may have been set back.
      if (!isFailing || Math.abs(clock.now() - failedAt) < STEADY_MS) return;
      isFailing = false;
      log.info({ store, failures: unlogged }, 'the store works again');
      loggedAt = Number.NEGATIVE_INFINITY;
      unlogged = 0;
    },
  };
}

/** A refusal is of the kind that its server names. All other failures are of one kind: the store cannot be reached. */
function kindOf(error: unknown): string {
  const named = error instanceof Error ? ERROR_KIND.exec(error.message) : null;
  return named?.[0] ?? 'unreachable';
}
