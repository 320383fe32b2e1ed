import type { IncomingMessage } from 'node:http';
import type { Context, Middleware, Next } from 'koa';
import { memoryCounters, type RequestCount, type RequestCounters } from '../../lib/request-counters.ts';
import { type Client, limitKey } from '../client-address.ts';
import { HttpError } from '../errors.ts';

/** Rate limit headers of a counted request's response. */
export const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** State of a client's limit after a request was counted. */
export interface CountedRequest {
  readonly isRefused: boolean;
  /** Values of `RATE_LIMIT_HEADERS`, in that order. */
  readonly values: readonly [limit: string, remaining: string, resetS: string];
}

/** Limit of requests per minute and client address (IPv6: /64). See `limitKey`. */
export interface RateLimit {
  /** Counts a request once, even when called repeatedly; undefined for a client that is not counted. */
  count(request: IncomingMessage, client: Client): Promise<CountedRequest> | undefined;
}

export function rateLimit(requestsPerMinute: number, counters: RequestCounters = memoryCounters): RateLimit {
  const counter = counters('data', requestsPerMinute);
  const counted = new WeakMap<IncomingMessage, Promise<CountedRequest>>();

  return {
    count(request, client) {
      const key = limitKey(client);
      if (key === undefined) return undefined;
      const before = counted.get(request);
      if (before !== undefined) return before;
      const count = counter(key).then(stateOf);
      counted.set(request, count);
      return count;
    },
  };
}

function stateOf({ limit, remaining, msLeft, isRefused }: RequestCount): CountedRequest {
  return { isRefused, values: [String(limit), String(remaining), String(Math.ceil(msLeft / 1000))] };
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
