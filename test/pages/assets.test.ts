import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { test } from '../support/served-devnet.ts';

/** Headers and text of the home page. */
async function home(url: string) {
  const response = await fetch(url);
  return { headers: response.headers, text: await response.text() };
}

test('a page allows its import map by hash, and no other inline script', async ({ service }) => {
  const { headers, text } = await home(service.url);

  const inline = [...text.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([^<]*)<\/script>/g)].map(([, code]) => code);
  expect(inline).toHaveLength(1);
  const hash = createHash('sha256')
    .update(inline[0] ?? '')
    .digest('base64');
  expect(headers.get('Content-Security-Policy')).toContain(`script-src 'self' 'sha256-${hash}';`);
  expect(headers.get('Access-Control-Allow-Origin')).toBeNull();
});

test('every file in a page is served as immutable, with the modules as JavaScript', async ({ service }) => {
  const { text } = await home(service.url);

  const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(files.length).toBeGreaterThan(10);
  for (const path of files) {
    const response = await fetch(new URL(path, service.url));
    const content = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
    if (!path.endsWith('.ts')) continue;
    expect(response.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
    expect(content).not.toMatch(/^import type|^export interface|\): VNode/m);
  }
});

test('all modules that a page imports are named in its head', async ({ service }) => {
  const { text } = await home(service.url);

  const preloaded = [...text.matchAll(/rel="modulepreload" href="[^"]*\/([^/"]+)"/g)].map(([, name]) => name);
  expect(preloaded).toEqual(
    expect.arrayContaining(['home.ts', 'frame.ts', 'list.ts', 'preact', 'hooks', 'htm', 'openapi-fetch']),
  );
});

test('a file that does not exist, or has another version, is not found', async ({ service }) => {
  const { text } = await home(service.url);
  const path = /"(\/assets\/[^"]+\/icon\.svg)"/.exec(text)?.[1] ?? '';

  const other = path.replace(/\/assets\/[0-9a-f]+/, '/assets/0000000000000000');
  const outside = path.replace('icon.svg', '../../assets.ts');
  for (const wrong of [other, outside, '/assets/']) {
    expect((await fetch(new URL(wrong, service.url))).status).toBe(404);
  }
});
