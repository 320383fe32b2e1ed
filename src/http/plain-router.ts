import Router from '@koa/router';
import { methodError } from './errors.ts';

/**
 * Makes a router of things to read outside of the contracts, one for each app. Register with `all`: a method other than
 * GET and HEAD on a known path is then 405 in the one match that a request has. So is an OPTIONS request that is no
 * preflight: preflights are answered before.
 */
export function plainRouter(): Router {
  return new Router().use((ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
    throw methodError(ctx.method, 'GET, HEAD');
  });
}
