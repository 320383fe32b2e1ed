import type { IncomingMessage } from 'node:http';
import type { Context, Middleware, Next } from 'koa';
import { type Logger, logAndGoOn } from '../../lib/logger.ts';
import {
  type CountedClient,
  LIMIT_FIELDS,
  limitFields,
  memoryCounters,
  type RequestCount,
  type RequestCounters,
} from '../../lib/request-counters.ts';
import { type Client, limitKey } from '../client-address.ts';
import { HttpError } from '../errors.ts';

/** Rate limit headers of a counted request's response. */
export const RATE_LIMIT_HEADERS = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  ...LIMIT_FIELDS,
] as const;

/** State of a client's limit after a request was counted. */
export interface CountedRequest {
  readonly isRefused: boolean;
  /** Values of `RATE_LIMIT_HEADERS`, in that order. */
  readonly values: readonly [limit: string, remaining: string, resetS: string, state: string, policy: string];
}

/** Limit of requests per minute and client address (IPv6: /64). See `limitKey`. */
export interface RateLimit {
  /** Counts a request once, even when called repeatedly; undefined for a client that is not counted. */
  count(request: IncomingMessage, client: Client): Promise<CountedRequest> | undefined;
  /** The client of one request, to which the time of its queries is charged; undefined when it is not counted. */
  countedClient(client: Client): CountedClient | undefined;
}

/** Requests with a limit of their own, because they cost little. */
export interface PageLimit {
  readonly requestsPerMinute: number;
  /** True for the target of such a request. It decides alone, so that no client can choose its limit. */
  readonly covers: (target: string) => boolean;
  /** Sends a page as the refusal of a request for one; false for any other request. */
  readonly refuse: (ctx: Context, waitS: string) => boolean;
}

export interface RateLimitOptions {
  readonly requestsPerMinute: number;
  /** All requests have one limit when absent. */
  readonly pageLimit?: PageLimit | undefined;
  /** Number of requests as which a second of query time counts; 0 when absent. */
  readonly requestsPerQuerySecond?: number | undefined;
  /** Counters of these requests; in memory of this process when absent. */
  readonly counters?: RequestCounters | undefined;
  readonly log: Logger;
}

export function rateLimit(options: RateLimitOptions): RateLimit {
  const {
    requestsPerMinute,
    requestsPerQuerySecond = 0,
    counters = memoryCounters,
    pageLimit,
    log,
  } = options;
  const counter = counters('data', requestsPerMinute);
  const pageCounter = pageLimit && counters('data_page', pageLimit.requestsPerMinute);
  const counterOf = ({ url = '' }: IncomingMessage) =>
    pageLimit?.covers(url) === true ? (pageCounter ?? counter) : counter;
  const counted = new WeakMap<IncomingMessage, Promise<CountedRequest>>();

  return {
    count(request, client) {
      const key = limitKey(client);
      if (key === undefined) return undefined;
      const before = counted.get(request);
      if (before !== undefined) return before;
      const count = counterOf(request)(key).then(stateOf);
      counted.set(request, count);
      return count;
    },
    countedClient(client) {
      const key = limitKey(client);
      if (key === undefined) return undefined;
      let uncharged = 0;
      return {
        key,
        charge(ms) {
          uncharged += (ms * requestsPerQuerySecond) / 1000;
          const requests = Math.floor(uncharged);
          if (requests === 0) return;
          uncharged -= requests;
          // A client beyond its limit is refused with its next request.
          counter(key, requests).catch(logAndGoOn(log, 'counting the time of a query'));
        },
      };
    },
  };
}

function stateOf(count: RequestCount): CountedRequest {
  const { limit, remaining, msLeft, isRefused } = count;
  const resetS = String(Math.ceil(msLeft / 1000));
  return { isRefused, values: [String(limit), String(remaining), resetS, ...limitFields(count)] };
}

/** Refuses requests beyond their limit with 429. */
export function limited(limit: RateLimit, pageLimit?: Pick<PageLimit, 'refuse'>): Middleware {
  return (ctx, next) => {
    const { client } = ctx.state;
    const count = limit.count(ctx.req, client);
    ctx.state.countedClient = limit.countedClient(client);
    return count === undefined ? next() : within(ctx, next, count);
  };

  async function within(ctx: Context, next: Next, count: Promise<CountedRequest>): Promise<void> {
    const { isRefused, values } = await count;
    for (const [index, name] of RATE_LIMIT_HEADERS.entries()) ctx.set(name, values[index] ?? '');
    const [, , resetS] = values;
    if (!isRefused) return next();
    if (pageLimit?.refuse(ctx, resetS) !== true)
      throw new HttpError(429, 'Too many requests', { headers: { 'Retry-After': resetS } });
  }
}
