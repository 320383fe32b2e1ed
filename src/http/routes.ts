import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { HttpError } from './errors.ts';

/** A router of things to read as plain Koa middleware; another method on one of its paths is 405. */
export function routesOf(router: Router): Middleware {
  const routes = router.routes();
  return (ctx, next) => {
    const isKnown = router.match(ctx.path, 'GET').pathAndMethod.length > 0;
    if (isKnown && ctx.method !== 'GET' && ctx.method !== 'HEAD' && ctx.method !== 'OPTIONS') {
      throw new HttpError(405, `${ctx.method} is not allowed here`, { headers: { Allow: 'GET, HEAD' } });
    }
    // The router sets these two itself; its type wants them before.
    return routes(Object.assign(ctx, { params: {}, router }), next);
  };
}
