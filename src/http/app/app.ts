import type { IncomingMessage } from 'node:http';
import type Router from '@koa/router';

import Koa, { type Middleware, type Next } from 'koa';
import type { ClockAndLog, Logger } from '#lib/logger.ts';
import type { RequestCounters } from '#lib/request-counters.ts';
import { type Client, clientReader } from '../client-address.ts';
import { type FormatError, messageOnly } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { accessLog, type LoggedRequests, logRequests } from './access-log.ts';
import { type CrossOriginRules, crossOriginHeaders, preflights } from './cors.ts';
import { errorAnswers, logUnsent } from './error-answers.ts';
import { fastPath, type Listener } from './fast-path.ts';
import { limited, type PageLimit, RATE_LIMIT_HEADERS, rateLimit } from './rate-limit.ts';
import { requestId } from './request-state.ts';
import { checkTarget } from './request-target.ts';
import { readersOnly, unsentBytes } from './unsent-bytes.ts';

export interface AppOptions extends ClockAndLog {
  metrics: Metrics;
  /** All requests when absent. */
  loggedRequests?: LoggedRequests | undefined;
  /** Requests per minute and client address. When absent, the routes apply their own limits. */
  rateLimitPerMinute?: number | undefined;
  /** Requests that do not count among these. */
  pageLimit?: PageLimit | undefined;
  /** Number of these requests as which a second of query time counts; 0 when absent. */
  requestsPerQuerySecond?: number | undefined;
  /** Counters of these requests; in memory of this process when absent. */
  counters?: RequestCounters | undefined;
  /** CIDRs of proxies whose X-Forwarded-* headers are trusted. */
  trustedProxies?: readonly string[];
  routes: readonly Middleware[];
  /** Pages outside the contracts, tried after `routes`. */
  plain?: Router;
  /** Cross-origin access in addition to reads; reads only when absent. */
  crossOrigin?: CrossOriginRules;
  /** Body of error responses; `{ message }` when absent. */
  formatError?: FormatError;
}

/** App as used by a server, such as a Koa app. */
export interface App {
  callback(): Listener;
}

/**
 * Creates an app with the middleware that all services share. Request id, log, metrics and cross-origin headers are
 * outside the error handling, so they apply to errors too. A fast path in front sends repeated cache hits.
 */
export function createApp(options: AppOptions): App {
  const { log, metrics, clock, rateLimitPerMinute: requestsPerMinute } = options;
  const { trustedProxies = [], routes, plain } = options;
  const rules = withOwnHeaders(options);
  const access = accessLog(log, options.loggedRequests ?? 'all');
  const limit = requestsPerMinute === undefined ? undefined : rateLimit({ ...options, requestsPerMinute });
  const clientOf = clientReaderFor(trustedProxies, log);
  const unsent = unsentBytes();
  const fast = fastPath({ access, metrics, clock, clientOf, limit, unsent });
  const app = new Koa();
  app.on('error', logUnsent(log, 'an answer could not be sent'));
  app.use(fast.learn);
  app.use(requestId(log));
  app.use(logRequests(access, clock));
  app.use(countRequests(metrics));
  app.use(crossOriginHeaders(rules));
  app.use(errorAnswers(options.formatError ?? messageOnly));
  app.use(checkTarget);
  app.use((ctx, next) => {
    ctx.state.client = clientOf(ctx.req);
    return next();
  });
  if (limit !== undefined) app.use(limited(limit, options.pageLimit));
  app.use(readersOnly(unsent));
  app.use(preflights(rules));
  for (const route of routes) app.use(route);
  if (plain !== undefined) app.use(plain.routes());
  return { callback: () => fast.before(app.callback()) };
}

/** Adds the headers set by this app to those of its routes. */
function withOwnHeaders({ crossOrigin, rateLimitPerMinute }: AppOptions): CrossOriginRules {
  const own = ['X-Request-Id', 'Retry-After', 'Allow'];
  const limits = rateLimitPerMinute === undefined ? [] : RATE_LIMIT_HEADERS;
  return { ...crossOrigin, exposedHeaders: [...own, ...limits, ...(crossOrigin?.exposedHeaders ?? [])] };
}

function countRequests(metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    await next();
    if (ctx.state.isHealthCheck === true) return;
    metrics.request(ctx.state.operationId ?? 'none', ctx.status, (performance.now() - startedAt) / 1000);
  };
}

/** Logs that already contain the warning: the services of one process share a log. */
const warned = new WeakSet<Logger>();

function clientReaderFor(
  trustedProxies: readonly string[],
  log: Logger,
): (request: IncomingMessage) => Client {
  return clientReader(trustedProxies, peer => {
    if (warned.has(log)) return;
    warned.add(log);
    log.warn(
      { peer },
      'requests come through a proxy that is not trusted, so all its clients share one limit: if it is yours, add its address to trustedProxies',
    );
  });
}

/** Combines middleware into one that runs them in order. */
export function composed(all: readonly Middleware[]): Middleware {
  return (ctx, next) => all.reduceRight<Next>((rest, one) => async () => one(ctx, rest), next)();
}
