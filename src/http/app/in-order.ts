import type { Middleware, Next } from 'koa';

/** Combines middleware into one that runs them in order. */
export function inOrder(all: readonly Middleware[]): Middleware {
  return (ctx, next) => all.reduceRight<Next>((rest, one) => async () => one(ctx, rest), next)();
}
