import { paymentsError } from '../../contract/payments-errors.ts';
import type { HttpError } from '../../http/errors.ts';
import type { Count } from './rate-limits.ts';

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
  const seconds = Math.max(1, Math.ceil(count.msLeft / 1000));
  const text = `Rate limit exceeded. Retry after ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return paymentsError('rate_limit_exceeded', text, {
    headers: { ...countHeaders(count, now), 'Retry-After': String(seconds) },
  });
}
