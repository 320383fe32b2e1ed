import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';

/** Leaves an upstream alone from a 429 or 402 until it may be asked again. */
export interface Quota {
  /** Takes note of a response's status and headers. */
  note(status: number, headers: Headers): void;
  isUsedUp(): boolean;
  /** Time until it may be asked again, in milliseconds; 0 when it may be asked. */
  leftMs(): number;
  /** @throws BackendError `over_quota` while the quota is used up. */
  check(): void;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const MAX_PAUSE_MS = 3_600_000;
/** Pauses where the upstream names none: a rate is back in seconds, credits have to be bought or wait for a new day. */
const PAUSE_MS: Readonly<Record<number, number>> = { 429: 10_000, 402: 600_000 };
/** From here on a number is a moment: seconds since 2001, milliseconds since 1973. */
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
        resetMs(headers, clock) ?? retryAfterMs(headers, clock) ?? otherwise,
        MAX_PAUSE_MS,
      );
      if (!isUsedUp()) log.warn({ upstream: name, status, pauseMs }, 'over quota: left alone');
      // Answers to requests that were under way arrive in any order.
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
 * Blockscout's `x-ratelimit-reset`: milliseconds from now, -1 where no limit is known. Other services write a moment
 * here, in seconds or milliseconds; no span is that long. Source: Blockscout's rate limit plug.
 */
function resetMs(headers: Headers, clock: Clock): number | undefined {
  const value = positive(headers['x-ratelimit-reset'], 1);
  if (value === undefined || value < MOMENTS.seconds) return value;
  const moment = value < MOMENTS.milliseconds ? value * 1000 : value;
  return ahead(moment, clock);
}

/** RFC 9110, section 10.2.3: whole seconds from now, or a date. */
function retryAfterMs(headers: Headers, clock: Clock): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  // Date.parse takes numbers such as -1 for years.
  if (!/[a-z]/i.test(value)) return positive(value, 1000);
  return ahead(Date.parse(value), clock);
}

/** Milliseconds until a moment; undefined for one that has passed. */
function ahead(moment: number, clock: Clock): number | undefined {
  const ms = moment - clock.now();
  return ms > 0 ? ms : undefined;
}

function positive(value: string | string[] | undefined, unitMs: number): number | undefined {
  if (typeof value !== 'string' || !/^\s*\d{1,15}\s*$/.test(value)) return undefined;
  return Number(value) * unitMs || undefined;
}
