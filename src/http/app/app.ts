import type Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import Koa from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { clientReader, limitKey } from '../client-address.ts';
import { type FormatError, HttpError, messageOnly } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { accessLog } from './access-log.ts';
import { type CrossOriginRules, crossOriginHeaders, preflights } from './cors.ts';
import { errorAnswers } from './error-answers.ts';
import { requestId } from './request-state.ts';
import { checkTarget } from './request-target.ts';

export interface AppOptions {
  log: Logger;
  metrics: Metrics;
  clock: Clock;
  /** Requests a minute and client address; without it the routes have to limit by themselves. */
  rateLimitPerMinute?: number | undefined;
  /** CIDRs whose X-Forwarded-* headers are believed. */
  trustedProxies?: readonly string[];
  routes: readonly Middleware[];
  /** What is to be read outside of the contracts, behind `routes`. */
  plain?: Router;
  /** Cross-origin access beside reads; reads alone when absent. */
  crossOrigin?: CrossOriginRules;
  /** The body of error answers; `{ message }` when absent. */
  formatError?: FormatError;
}

/** A Koa app with the middleware every service has. Request id, log, metrics and cross-origin headers stand outside the error answers. */
export function createApp(options: AppOptions): Koa {
  const { log, metrics, clock, rateLimitPerMinute, trustedProxies = [], routes, plain } = options;
  const rules = withOwnHeaders(options);
  const app = new Koa();
  app.on('error', error => log.warn({ err: error }, 'an answer could not be sent'));
  app.use(requestId(log));
  app.use(accessLog(log, clock));
  app.use(countRequests(metrics));
  app.use(crossOriginHeaders(rules));
  app.use(errorAnswers(options.formatError ?? messageOnly));
  app.use(checkTarget);
  app.use(readClient(trustedProxies, log));
  if (rateLimitPerMinute !== undefined) app.use(rateLimit(rateLimitPerMinute));
  app.use(preflights(rules));
  for (const route of routes) app.use(route);
  if (plain !== undefined) app.use(plain.routes());
  return app;
}

/** Adds the headers that this app sets by itself to those of its routes. */
function withOwnHeaders({ crossOrigin, rateLimitPerMinute }: AppOptions): CrossOriginRules {
  const own = ['X-Request-Id', 'Retry-After', 'Allow'];
  const limits = rateLimitPerMinute === undefined ? [] : RATE_LIMIT_HEADERS;
  return { ...crossOrigin, exposedHeaders: [...own, ...limits, ...(crossOrigin?.exposedHeaders ?? [])] };
}

function countRequests(metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    metrics.request(ctx.state.operationId ?? 'none', ctx.status, (performance.now() - startedAt) / 1000);
  };
}

/** Logs that have the warning already: the services of one process share a log. */
const warned = new WeakSet<Logger>();

function readClient(trustedProxies: readonly string[], log: Logger): Middleware {
  const read = clientReader(trustedProxies, peer => {
    if (warned.has(log)) return;
    warned.add(log);
    log.warn(
      { peer },
      'requests come through a proxy that is not trusted, so all its clients share one limit: if it is yours, add its address to trustedProxies',
    );
  });
  return (ctx, next) => {
    ctx.state.client = read(ctx.req);
    return next();
  };
}

/** Headers of a counted request's answer. */
const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Limits requests per minute and client address (IPv6: /64) and refuses with 429 beyond that. See `limitKey`. */
function rateLimit(requestsPerMinute: number): Middleware {
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
