import Koa, { type Context } from 'koa';
import { inTime } from '../../lib/in-time.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOnly } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { plainRouter } from '../plain-router.ts';
import { errorAnswers } from './error-answers.ts';
import { requestId } from './request-state.ts';
import { checkTarget } from './request-target.ts';

const STATUS_PATIENCE_MS = 2_000;

/** State of one service, as JSON. */
export type StatusReader = () => Promise<object>;

/**
 * The operator's listener: `GET /metrics`, and `GET /status` with the state of each service by name. Requests to it are
 * neither logged nor counted.
 */
export function createAdminApp({
  metrics,
  log,
  status = {},
}: {
  metrics: Metrics;
  log: Logger;
  status?: Readonly<Record<string, StatusReader>>;
}): Koa {
  const app = new Koa();
  app.on('error', error => log.warn({ err: error }, 'an answer to the operator could not be sent'));
  app.use(requestId(log));
  app.use(errorAnswers(messageOnly));
  app.use(checkTarget);
  // As patterns, because the router reads addresses given as text in any case and with a slash at the end.
  const plain = plainRouter()
    .all(/^\/status$/, ctx => sendStatus(ctx, status))
    .all(/^\/metrics$/, async ctx => {
      ctx.body = await metrics.registry.metrics();
      ctx.set('Content-Type', metrics.registry.contentType);
      ctx.set('Cache-Control', 'no-store');
    });
  app.use(plain.routes());
  return app;
}

/** A service whose state cannot be read makes the answer a 503, in which those of the others still stand. */
async function sendStatus(ctx: Context, status: Readonly<Record<string, StatusReader>>): Promise<void> {
  let isWhole = true;
  const states = Object.entries(status).map(async ([name, read]) => {
    try {
      return [name, await inTime(read(), STATUS_PATIENCE_MS)];
    } catch (error) {
      ctx.state.log().warn({ err: error, service: name }, 'the state of a service cannot be read');
      isWhole = false;
      return [name, { error: 'not available' }];
    }
  });
  ctx.set('Cache-Control', 'no-store');
  ctx.body = Object.fromEntries(await Promise.all(states));
  ctx.status = isWhole ? 200 : 503;
}
