import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { Client } from '#http/client-address.ts';
import type { HttpError } from '#http/errors.ts';
import type { Clock } from '#lib/clock.ts';
import type { Count, RateLimits } from './rate-limits.ts';

/** The headers that tell how a request was counted (Decision 105); `now` is UTC ms. */
export function countHeaders(count: Count, now: number): Readonly<Record<string, string>> {
  return {
    'X-RateLimit-Limit': String(count.limit),
    'X-RateLimit-Remaining': String(count.remaining),
    'X-RateLimit-Reset': String(Math.ceil((now + count.msLeft) / 1000)),
  };
}

/** The answer to a request beyond a limit: 429 with the time to wait, in its headers and in its message. */
export function tooMany(count: Count, now: number): HttpError {
  const seconds = secondsLeft(count);
  const text = `Rate limit exceeded. Retry after ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return paymentsError('rate_limit_exceeded', text, {
    headers: refusalHeaders(count, now),
  });
}

/** Counts a page of the checkout. Its refusal is a page as well, so this does not throw. */
export function pageAdmission({ ofPage }: Pick<RateLimits, 'ofPage'>, clock: Clock) {
  return async (client: Client) => {
    const count = await ofPage(client);
    if (count === undefined) return { headers: {}, waitSeconds: undefined };
    return count.isRefused
      ? { headers: refusalHeaders(count, clock.now()), waitSeconds: secondsLeft(count) }
      : { headers: countHeaders(count, clock.now()), waitSeconds: undefined };
  };
}

function refusalHeaders(count: Count, now: number): Readonly<Record<string, string>> {
  return { ...countHeaders(count, now), 'Retry-After': String(secondsLeft(count)) };
}

/** Whole seconds until a refused client may retry, at least one. */
function secondsLeft({ msLeft }: Count): number {
  return Math.max(1, Math.ceil(msLeft / 1000));
}
