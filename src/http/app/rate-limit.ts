import type { IncomingMessage } from 'node:http';
import type { Context, Middleware, Next } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { type Client, limitKey } from '../client-address.ts';
import { HttpError } from '../errors.ts';

/** Names of the headers of a counted request's answer. */
export const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** State of a client's limit after a request was counted. */
export interface CountedRequest {
  readonly isRefused: boolean;
  /** Values of `RATE_LIMIT_HEADERS`, in that order. */
  readonly values: readonly [limit: string, remaining: string, resetS: string];
}

/** Limit of requests per minute and client address (IPv6: /64). See `limitKey`. */
export interface RateLimit {
  /** Counts a request once, however often it is asked about; undefined for a client that is not counted. */
  count(request: IncomingMessage, client: Client): Promise<CountedRequest> | undefined;
}

export function rateLimit(requestsPerMinute: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });
  const counted = new WeakMap<IncomingMessage, Promise<CountedRequest>>();

  return {
    count(request, client) {
      const key = limitKey(client);
      if (key === undefined) return undefined;
      const before = counted.get(request);
      if (before !== undefined) return before;
      const count = limiter.consume(key).catch(refused).then(stateOf);
      counted.set(request, count);
      return count;
    },
  };

  function stateOf({ msBeforeNext, remainingPoints, consumedPoints }: RateLimiterRes): CountedRequest {
    const resetS = String(Math.ceil(msBeforeNext / 1000));
    return {
      isRefused: consumedPoints > requestsPerMinute,
      values: [String(requestsPerMinute), String(remainingPoints), resetS],
    };
  }
}

/** Refuses requests beyond the limit with 429. */
export function limited(limit: RateLimit): Middleware {
  return (ctx, next) => {
    const count = limit.count(ctx.req, ctx.state.client);
    return count === undefined ? next() : within(ctx, next, count);
  };
}

async function within(ctx: Context, next: Next, count: Promise<CountedRequest>): Promise<void> {
  const { isRefused, values } = await count;
  for (const [place, name] of RATE_LIMIT_HEADERS.entries()) ctx.set(name, values[place] ?? '');
  const [, , resetS] = values;
  if (isRefused) throw new HttpError(429, 'Too many requests', { headers: { 'Retry-After': resetS } });
  await next();
}

/** The limiter rejects with its state when the points are used up, and with an error when it failed itself. */
function refused(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}
