import Koa from 'koa';
import type { Logger } from '../lib/logger.ts';
import { errorAnswers } from './error-answers.ts';
import { HttpError, messageOnly } from './errors.ts';
import type { Metrics } from './metrics.ts';
import { requestId } from './request-id.ts';
import { checkTarget } from './target.ts';

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
  app.use(async ctx => {
    if (ctx.path !== '/metrics' && ctx.path !== '/status') return;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw new HttpError(405, `${ctx.method} is not allowed here`, { headers: { Allow: 'GET, HEAD' } });
    }
    ctx.set('Cache-Control', 'no-store');
    if (ctx.path === '/status') {
      const states = Object.entries(status).map(async ([name, read]) => [name, await read()]);
      ctx.body = Object.fromEntries(await Promise.all(states));
      return;
    }
    ctx.body = await metrics.registry.metrics();
    ctx.set('Content-Type', metrics.registry.contentType);
  });
  return app;
}
