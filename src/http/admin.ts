import Koa from 'koa';
import type { Logger } from '../lib/logger.ts';
import { errorAnswers } from './error-answers.ts';
import { HttpError, messageOnly } from './errors.ts';
import type { Metrics } from './metrics.ts';
import { requestId } from './request-id.ts';
import { checkTarget } from './target.ts';

/** The operator's listener: GET /metrics and nothing else. Scrapes are neither logged nor counted. */
export function createAdminApp({ metrics, log }: { metrics: Metrics; log: Logger }): Koa {
  const app = new Koa();
  app.on('error', error => log.warn({ err: error }, 'metrics could not be sent'));
  app.use(requestId(log));
  app.use(errorAnswers(messageOnly));
  app.use(checkTarget);
  app.use(async ctx => {
    if (ctx.path !== '/metrics') return;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw new HttpError(405, `${ctx.method} is not allowed here`, { headers: { Allow: 'GET, HEAD' } });
    }
    ctx.body = await metrics.registry.metrics();
    ctx.set('Content-Type', metrics.registry.contentType);
    ctx.set('Cache-Control', 'no-store');
  });
  return app;
}
