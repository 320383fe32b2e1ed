import type Router from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import { errorBodies } from '../contract/contracts/contract.ts';
import { explorerContract } from '../contract/contracts/explorer.ts';
import { insightsContract } from '../contract/contracts/insights.ts';
import { composed, createApp } from '../http/app/app.ts';
import { isUnanswered } from '../http/app/error-answers.ts';
import { HttpError } from '../http/errors.ts';
import { healthRoutes, type ReadinessCheck } from '../http/health.ts';
import { plainRouter } from '../http/plain-router.ts';
import { boundedAs } from '../http/server/connection-bounds.ts';
import { type ListenerSettings, listen } from '../http/server/server.ts';
import { pageLimit } from './pages/page-limit.ts';
import type { RecordLook } from './pages/record-look.ts';
import { dataPages, type LostAnswer } from './pages/routes.ts';
import { isPicturePath } from './pictures/picture-route.ts';

export interface FrontOptions extends ListenerSettings {
  /** True to serve the HTML pages. */
  readonly pages: boolean;
  readonly rateLimitPerMinute: number;
  /** Limit of pages (Decision 274); they count in `rateLimitPerMinute` when absent. */
  readonly pageRateLimitPerMinute?: number | undefined;
  /** Number of requests as which a second of query time counts; 0 when absent. */
  readonly requestsPerQuerySecond?: number | undefined;
}

/** Listener of the data service, with everything that needs no chain: health and the HTML pages. */
export interface DataFront {
  readonly url: string;
  /** Routes outside the contracts. */
  readonly plain: Router;
  /** Starts serving these routes. Every earlier request gets a 503. */
  serve(service: {
    routes: readonly Middleware[];
    checks: Readonly<Record<string, ReadinessCheck>>;
    /** Look for the record of a page; no record counts as missing when absent. */
    isMissing?: RecordLook;
    /** Ends responses that would not end by themselves, if there are any. Called when the front begins to close. */
    endStreams?: () => void;
  }): void;
  /** As in `RunningServer`. */
  close(drainMs?: number): Promise<void>;
}

const RETRY_AFTER_S = 1;
const STARTING: Readonly<Record<string, ReadinessCheck>> = {
  start: () => ({ ok: false, detail: 'chains are being opened' }),
};

/**
 * Listens before the chains are open (Decision 262). Loads only the modules for its own answers, so that a process can
 * listen early. `chainIds` are the chains that will be served. Rejects when the address cannot be bound.
 */
export async function openDataFront(options: FrontOptions, chainIds: readonly number[]): Promise<DataFront> {
  const { host, port, pages, connections, clock, log } = options;
  const { pageRateLimitPerMinute: requestsPerMinute } = options;
  const formatError = errorBodies([explorerContract, insightsContract]);
  let checks = STARTING;
  let routes = untilServed;
  let isMissing: RecordLook = async () => false;
  let answerLost: LostAnswer | undefined;
  let endStreams = () => {};
  const plain = plainRouter();
  healthRoutes(plain, { checks: () => checks, isLeaving: options.isLeaving });
  if (pages) answerLost = dataPages(plain, { chainIds, isMissing: record => isMissing(record) });
  const app = createApp({
    ...options,
    counters: options.counters ?? options.workerCounters,
    pageLimit: requestsPerMinute === undefined ? undefined : pageLimit({ requestsPerMinute, isPicturePath }),
    crossOrigin: {
      exposedHeaders: ['ETag', 'Age', 'X-Cache', 'X-Chain-Id', 'X-Backend', 'X-Accel-Buffering'],
      isClosed: isPicturePath,
    },
    formatError,
    routes: [
      async (ctx, next) => {
        await routes(ctx, next);
        if (isUnanswered(ctx)) await answerLost?.(ctx);
      },
    ],
    plain,
  });
  const listening = await listen({
    app,
    host,
    port,
    log,
    clock,
    connections: boundedAs('data', connections),
    drain: options.drain,
    formatError,
  });
  return {
    url: listening.url,
    plain,
    serve(service) {
      routes = composed(service.routes);
      checks = service.checks;
      isMissing = service.isMissing ?? isMissing;
      endStreams = service.endStreams ?? endStreams;
    },
    close(drainMs) {
      endStreams();
      return listening.close(drainMs);
    },
  };
}

/**
 * Refuses, with 503, every request that neither a page nor a health check answers. A picture is not a page, although
 * its path is below one.
 */
async function untilServed(ctx: Context, next: Next): Promise<void> {
  if (!isPicturePath(ctx.path)) await next();
  if (isUnanswered(ctx)) {
    throw new HttpError(503, 'The service is starting', {
      headers: { 'Retry-After': String(RETRY_AFTER_S) },
    });
  }
}
