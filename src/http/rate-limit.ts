import type { Context, Middleware, Next } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { rateLimitKey } from './client-address.ts';
import { HttpError } from './errors.ts';

/** Counts requests a minute and client address (IPv6: /64) and refuses with 429 beyond the limit. Loopback is exempt. */
export function rateLimit(requestsPerMinute: number): Middleware {
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });

  return (ctx, next) => (ctx.state.client.isLoopback ? next() : limited(ctx, next));

  async function limited(ctx: Context, next: Next): Promise<void> {
    const state = await limiter.consume(rateLimitKey(ctx.state.client.address)).catch(refused);
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
