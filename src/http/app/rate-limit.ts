import type { Context, Middleware, Next } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { limitKey } from '../client-address.ts';
import { HttpError } from '../errors.ts';

/** Headers of a counted request's answer. */
export const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Limits requests per minute and client address (IPv6: /64) and refuses with 429 beyond that. See `limitKey`. */
export function rateLimit(requestsPerMinute: number): Middleware {
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });

  return (ctx, next) => {
    const key = limitKey(ctx.state.client);
    return key === undefined ? next() : limited(ctx, next, key);
  };

  async function limited(ctx: Context, next: Next, key: string): Promise<void> {
    const state = await limiter.consume(key).catch(refused);
    const resetS = String(Math.ceil(state.msBeforeNext / 1000));
    ctx.set('RateLimit-Limit', String(requestsPerMinute));
    ctx.set('RateLimit-Remaining', String(state.remainingPoints));
    ctx.set('RateLimit-Reset', resetS);
    if (state.consumedPoints > requestsPerMinute) {
      throw new HttpError(429, 'Too many requests', { headers: { 'Retry-After': resetS } });
    }
    await next();
  }
}

/** The limiter rejects with its state when the points are used up, and with an error when it failed itself. */
function refused(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason;
  throw reason;
}
