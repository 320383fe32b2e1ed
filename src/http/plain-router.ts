import Router from '@koa/router';
import { methodError } from './errors.ts';

/**
 * Creates a router for pages outside the contracts, one per app. Register with `all`: methods other than GET and HEAD
 * on a known path then become 405 without a second match. This includes OPTIONS requests that are not preflights;
 * preflights are answered earlier.
 */
export function plainRouter(): Router {
  return new Router().use((ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
    throw methodError(ctx.method, 'GET, HEAD');
  });
}
