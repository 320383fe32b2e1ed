import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { expect } from 'vitest';
import { test } from '../support/served-devnet.ts';

/** Headers and text of the home page. */
async function home(url: string) {
  const response = await fetch(url);
  return { headers: response.headers, text: await response.text() };
}

/** Addresses of the files that a page names in its head, each once. */
function filesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path))];
}

const isScript = (path: string) => /\.(?:ts|js)$/.test(path);

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

  const files = filesIn(text);
  expect(files).toHaveLength(4);
  for (const path of files) {
    const response = await fetch(new URL(path, service.url));
    const content = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
    if (!isScript(path)) continue;
    expect(response.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
    expect(content).not.toMatch(/^import type|^export interface|\): VNode/m);
  }
});

test.for([
  '/',
  '/playground',
  '/search',
  '/chain/1',
  '/chain/1/tx/1',
  '/chain/1/address/1',
  '/chain/1/token/1',
])(
  'the scripts of %s contain no statement that only a module may have, but those that join them',
  async (path, { service }) => {
    const { text } = await home(new URL(path.replace('/1', '/31337'), service.url).href);

    const scripts = filesIn(text).filter(isScript);
    expect(scripts).toHaveLength(2);
    for (const address of scripts) {
      const code = await (await fetch(new URL(address, service.url))).text();
      const body = code.replace(/^import \{[^}]*\} from '\/assets\/[^']*';$|^export \{[^}]*\};$/gm, '');
      const script = body.replaceAll('import.meta.resolve(', 'String('); // finds the script of the worker
      expect(() => new Script(`"use strict"; ${script}`)).not.toThrow();
    }
  },
);

test('no two pages send the same module in scripts of their own', async ({ service }) => {
  const sources = await Promise.all(
    ['/', '/chain/31337', '/chain/31337/tx/1', '/search'].map(async path => {
      const { text } = await home(new URL(path, service.url).href);
      const own = filesIn(text).filter(isScript).at(-1);
      const map = await (await fetch(new URL(`${own}.map`, service.url))).json();
      return map.sections.map((section: { map: { sources: string[] } }) => section.map.sources[0]);
    }),
  );

  const all = sources.flat();
  expect(all).toContain('tollgate/data/pages/browser/home/home.ts');
  expect(new Set(all).size).toBe(all.length);
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
