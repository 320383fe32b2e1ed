import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { Abandoned, incidentOf } from './exchange-error.ts';

export interface FailureLogOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string;
}

/** Reports one failed request. `path` has no query. */
export type ReportFailure = (path: string, error: unknown) => void;

const INTERVAL_MS = 1000;
const MAX_TEXT = 200;

/**
 * Logs outages of one upstream, at most one line per second, because an outage at full load would fill the disk. `more`
 * counts the failures since the previous line.
 */
export function failureLog({ name, clock, log, hide }: FailureLogOptions): ReportFailure {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let more = 0;

  const shown = (text: string | undefined) =>
    hide(text?.slice(0, 10 * MAX_TEXT) ?? '').slice(0, MAX_TEXT) || undefined;

  return (path, error) => {
    if (error instanceof Abandoned || (error instanceof BackendError && error.kind !== 'unavailable')) return;
    if (clock.now() < quietUntil) {
      more += 1;
      return;
    }
    const incident = incidentOf(error);
    const reason = error instanceof Error ? error.message : undefined;
    log.warn(
      {
        upstream: name,
        path,
        reason: shown(reason),
        status: incident?.status,
        code: incident?.code,
        fault: shown(incident?.message),
        location: shown(incident?.location),
        text: shown(incident?.text),
        ...(more > 0 ? { more } : {}),
      },
      'upstream failed',
    );
    quietUntil = clock.now() + INTERVAL_MS;
    more = 0;
  };
}
