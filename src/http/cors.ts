import type { Context, Middleware } from 'koa';

const EXPOSED = [
  'ETag',
  'Age',
  'X-Cache',
  'X-Chain-Id',
  'X-Backend',
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
].join(', ');
const HEADER_LIST = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,1024}$/;
const PREFLIGHT_AGE_S = '86400';

/** Lets pages of any origin read: GET and HEAD, and the preflights for them. Other methods stay same-origin. */
export const corsForReads: Middleware = (ctx, next) => {
  allowReading(ctx);
  if (ctx.method !== 'OPTIONS') return next();
  const asked = ctx.get('Access-Control-Request-Method');
  if (asked !== 'GET' && asked !== 'HEAD') return next();

  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Allow-Methods', 'GET, HEAD');
  ctx.set('Access-Control-Max-Age', PREFLIGHT_AGE_S);
  ctx.vary('Access-Control-Request-Headers');
  const headers = ctx.get('Access-Control-Request-Headers');
  if (HEADER_LIST.test(headers)) ctx.set('Access-Control-Allow-Headers', headers);
  ctx.status = 204;
};

/** Without this on an error answer a page could not tell a 429 from a broken network. */
export function allowReading(ctx: Context): void {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return;
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', EXPOSED);
}
