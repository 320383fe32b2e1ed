import type { Context } from 'koa';
import { namesTag } from '#http/send.ts';

/** Everything comes from this server; only pictures of the merchant and icons of wallets come from elsewhere. */
export const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ');

/** Headers of every page: the address of a session is a secret, so no other site may learn, frame or open it. */
const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': CONTENT_POLICY,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex, nofollow',
  // Wallets that live in a window of their own keep working; whoever opened the page cannot reach into it.
  'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const;

/** A page that is not written yet. */
export interface PageAnswer {
  readonly status: number;
  /** The quoted tag of what the page is made from, the time aside; absent for a notice. */
  readonly tag?: string;
  readonly render: () => string;
}

/** Answers with a page, or with 304 before it is rendered when the client holds it. */
export function sendPage(ctx: Context, { status, tag, render }: PageAnswer): void {
  withoutForeignReaders(ctx);
  ctx.set(PAGE_HEADERS);
  const isHeld = status === 200 && tag !== undefined && namesTag(ctx.req.headers['if-none-match'], tag);
  const body = isHeld ? null : render();
  // Weak, because the remaining time in a page differs with every second.
  if (tag !== undefined) ctx.set('ETag', `W/${tag}`);
  ctx.body = body;
  ctx.status = isHeld ? 304 : status;
}

/** What the standard middleware grants to pages of any origin is for the data that everybody may read. */
function withoutForeignReaders(ctx: Context): void {
  ctx.remove('Access-Control-Allow-Origin');
  ctx.remove('Access-Control-Expose-Headers');
}
