import type Router from '@koa/router';
import type { Middleware } from 'koa';

/** A router as plain Koa middleware. */
export function routesOf(router: Router): Middleware {
  const routes = router.routes();
  // The router sets these two itself; its type wants them before.
  return (ctx, next) => routes(Object.assign(ctx, { params: {}, router }), next);
}
