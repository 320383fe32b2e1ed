import type { Middleware, Next } from 'koa';

/** One middleware that runs others in their order. */
export function inOrder(all: readonly Middleware[]): Middleware {
  return (ctx, next) => all.reduceRight<Next>((rest, one) => async () => one(ctx, rest), next)();
}
