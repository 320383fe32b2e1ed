import { msUntil, positiveNumber, retryAfterMs } from '#http/fetch/retry-after.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';

/** Suspends requests to an upstream after a 429 or 402 until its quota is renewed. */
export interface Quota {
  /** Reads the quota state from a response's status and headers. */
  note(status: number, headers: Headers): void;
  isUsedUp(): boolean;
  /** Time until the upstream may be asked again, in milliseconds; 0 when it may be asked now. */
  leftMs(): number;
  /** @throws BackendError `over_quota` while the quota is used up. */
  check(): void;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const MAX_PAUSE_MS = 3_600_000;
/**
 * Pauses when a response names none, in milliseconds. A rate limit resets in seconds; credits have to be bought or
 * renewed.
 */
const PAUSE_MS: Readonly<Record<number, number>> = { 429: 10_000, 402: 600_000 };
/**
 * Smallest values that are points in time: seconds since 2001, milliseconds since 1973. Smaller values are durations.
 */
const MOMENTS = { seconds: 1e9, milliseconds: 1e11 } as const;

export function watchQuota({ name, clock, log }: { name: string; clock: Clock; log: Logger }): Quota {
  let until = Number.NEGATIVE_INFINITY;
  const isUsedUp = () => clock.now() < until;
  const leftMs = () => Math.max(0, until - clock.now());
  return {
    isUsedUp,
    leftMs,
    note(status, headers) {
      const otherwise = PAUSE_MS[status];
      if (otherwise === undefined) return;
      const pauseMs = Math.min(
        resetMs(headers, clock) ?? retryAfterMs(headers['retry-after'], clock.now()) ?? otherwise,
        MAX_PAUSE_MS,
      );
      if (!isUsedUp()) log.warn({ upstream: name, status, pauseMs }, 'over quota: requests paused');
      // Answers to concurrent requests arrive in any order.
      until = Math.max(until, clock.now() + pauseMs);
    },
    check() {
      if (!isUsedUp()) return;
      const retryAfterMs = leftMs();
      throw new BackendError('unavailable', 'over_quota', 'its quota is used up', { retryAfterMs });
    },
  };
}

/**
 * Reads `x-ratelimit-reset`. Blockscout sends milliseconds from now, or -1 when no limit is known. Other services send
 * a point in time, in seconds or milliseconds. Source: Blockscout's rate limit plug.
 */
function resetMs(headers: Headers, clock: Clock): number | undefined {
  const value = positiveNumber(headers['x-ratelimit-reset']);
  if (value === undefined || value < MOMENTS.seconds) return value;
  const moment = value < MOMENTS.milliseconds ? value * 1000 : value;
  return msUntil(moment, clock.now());
}
