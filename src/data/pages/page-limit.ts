import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { PageLimit } from '#http/app/rate-limit.ts';
import { pathOf } from '#http/app/request-target.ts';
import { prefersPage, withoutForeignReaders } from '#pages/app-page.ts';
import { isPagePath } from './routes.ts';

/** Files of pages, and answers that are the same for all clients and are kept ready. */
const READY = /^\/(?:assets\/.*|docs(?:\/.*)?|openapi\.(?:json|yaml)|healthz|readyz)$/;

/**
 * Requests that an open home page repeats, with at most one chain. They have so few different answers that a client
 * with thousands of requests causes no more loads than one with a few.
 */
const REPEATED =
  /^\/(?:chains|explorer\/stats|explorer\/main-page\/(?:blocks|transactions))(?:\?(?:chain_id=\d{1,16})?)?$/;

interface PageLimitOptions {
  readonly requestsPerMinute: number;
  readonly isPicturePath: (path: string) => boolean;
}

/**
 * Limit of pages, their files, and what an open home page repeats (Decision 274). A picture is no page, although its
 * path is below one: its bytes come from another host.
 */
export function pageLimit({ requestsPerMinute, isPicturePath }: PageLimitOptions): PageLimit {
  const isPage = (path: string) => isPagePath(path) && !isPicturePath(path);
  return {
    requestsPerMinute,
    covers(target) {
      const path = pathOf(target);
      return isPage(path) || READY.test(path) || REPEATED.test(target);
    },
    refuse(ctx, waitS) {
      const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
      if (!isRead || !(isPage(ctx.path) || ctx.path === '/docs' || prefersPage(ctx))) return false;
      sendRefusalPage(ctx, waitS);
      return true;
    },
  };
}

const STYLES =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:20vh auto 0;padding:0 1rem}';
const STYLES_HASH = createHash('sha256').update(STYLES).digest('base64');

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLES_HASH}'; frame-ancestors 'none'; base-uri 'none'`,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
};

/** Pages by seconds, each created once. There are few, because a limit counts per minute. */
const ready = new Map<string, Buffer>();

/**
 * Answers 429 with a page that reloads itself when the client may retry. It loads no files, because a client beyond its
 * limit would not receive them.
 */
function sendRefusalPage(ctx: Context, waitS: string): void {
  const page = ready.get(waitS) ?? Buffer.from(textOf(waitS));
  ready.set(waitS, page);
  withoutForeignReaders(ctx);
  ctx.status = 429;
  ctx.set({ ...HEADERS, 'Retry-After': waitS });
  ctx.body = page;
}

function textOf(waitS: string): string {
  const wait = `${waitS} ${waitS === '1' ? 'second' : 'seconds'}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${waitS}">
<title>Please wait a moment · tollgate</title>
<style>${STYLES}</style>
</head>
<body>
<main>
<h1>Please wait a moment</h1>
<p>Too many pages were requested from your network within a minute. This page loads by itself in ${wait}.</p>
</main>
</body>
</html>
`;
}
