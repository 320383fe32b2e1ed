import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { withoutForeignReaders } from './app-page.ts';

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
export function sendRefusalPage(ctx: Context, waitS: string): void {
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
