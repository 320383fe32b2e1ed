import type { Context, Middleware } from 'koa';
import { pathOf } from './request-target.ts';

/** Access for pages of other origins. */
export interface CrossOriginRules {
  /** Response headers that pages can read, besides those that browsers always expose. */
  readonly exposedHeaders: readonly string[];
  /** True for paths that pages can POST to without a key; none when absent. */
  readonly isPostAllowed?: (path: string) => boolean;
  /** True for paths that pages of other origins can neither read nor write; none when absent. */
  readonly isClosed?: (path: string) => boolean;
}

const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1024}$/;
const PREFLIGHT_AGE_S = '86400';
const READS = ['GET', 'HEAD'];

/**
 * Lets pages of any origin read responses to GET, HEAD and the allowed POSTs. Errors are readable too: otherwise a page
 * could not distinguish a 429 from a network failure.
 */
export function crossOriginHeaders(rules: CrossOriginRules): Middleware {
  const exposed = rules.exposedHeaders.join(', ');
  return (ctx, next) => {
    if (allowedMethods(ctx, rules).includes(ctx.method)) {
      ctx.set('Access-Control-Allow-Origin', '*');
      ctx.set('Access-Control-Expose-Headers', exposed);
    }
    return next();
  };
}

/** Answers preflights for the allowed methods. Any other OPTIONS request goes on. */
export function preflights(rules: CrossOriginRules): Middleware {
  return (ctx, next) => {
    if (ctx.method !== 'OPTIONS') return next();
    const allowed = allowedMethods(ctx, rules);
    if (!allowed.includes(ctx.get('Access-Control-Request-Method'))) return next();

    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.set('Access-Control-Allow-Methods', allowed.join(', '));
    ctx.set('Access-Control-Max-Age', PREFLIGHT_AGE_S);
    ctx.vary('Access-Control-Request-Headers');
    const headers = ctx.get('Access-Control-Request-Headers');
    if (HEADER_LIST.test(headers)) ctx.set('Access-Control-Allow-Headers', headers);
    ctx.status = 204;
  };
}

function allowedMethods(ctx: Context, { isPostAllowed, isClosed }: CrossOriginRules): readonly string[] {
  const path = pathOf(ctx.req.url ?? '');
  if (isClosed?.(path) === true) return [];
  return isPostAllowed?.(path) === true ? [...READS, 'POST'] : READS;
}
