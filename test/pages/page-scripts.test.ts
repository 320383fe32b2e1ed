import { expect, test } from 'vitest';
import { pageScripts } from '#pages/page-scripts.ts';

/** Scripts of two pages, which share a module, and of a worker. */
const SOURCES = {
  '#app/shared.ts': 'export const shared: number = 40;',
  '#app/own.ts': 'export const own = 2;',
  '#app/one.ts':
    "import { own } from './own.ts';\nimport { shared } from './shared.ts';\nresult(own + shared);",
  '#app/two.ts':
    "import { shared } from './shared.ts';\nimport type { Message } from './feed-worker.ts';\nresult(shared);",
  '#app/feed-worker.ts':
    "import { shared } from './shared.ts';\nexport interface Message { value: number }\nresult(shared);",
};

const scriptsOf = (sources: Readonly<Record<string, string>>) =>
  pageScripts(
    new Map(Object.entries(sources).map(([name, text]) => [name, { folder: '#app/', text }])),
    name => `/assets/${name.replace('#', '')}`,
  );

test('a page loads what it shares with other pages, and its own script', async () => {
  const scripts = scriptsOf(SOURCES);

  const addresses = scripts.addressesOf('#app/one.ts');
  const [shared, own] = await Promise.all(addresses.map(address => scripts.textAt(address)));

  expect(addresses).toEqual(['/assets/app/shared.js', '/assets/app/one.ts']);
  expect(shared).toContain('const shared         = 40');
  expect(own).toContain("from '/assets/app/shared.js'");
  expect(own).toContain('const own = 2');
  expect(own).not.toContain('= 40');
});

test('a worker is one script without imports', async () => {
  const scripts = scriptsOf(SOURCES);

  const text = (await scripts.textAt('/assets/app/feed-worker.ts')) ?? '';

  expect(scripts.addressesOf('#app/feed-worker.ts')).toHaveLength(1);
  expect(text).not.toMatch(/^(?:import|export)\b/m);
  const results: number[] = [];
  new Function('result', text)((value: number) => results.push(value));
  expect(results).toEqual([40]);
});

test('texts of a language are a module of their own, although the server has all in one', async () => {
  const scripts = scriptsOf({
    '#app/page.ts': "export const page = await import('#app/languages/de.ts');",
    '#app/languages/de.ts': "import type { Texts } from './en.ts';\nexport const GERMAN: Texts = 'ja';",
    '#app/languages/en.ts': "export const ENGLISH = 'yes';\nexport type Texts = string;",
    '#app/languages/all.ts':
      "import { GERMAN } from './de.ts';\nimport { ENGLISH } from './en.ts';\nexport const ALL = [GERMAN, ENGLISH];",
  });

  expect(scripts.addressesOf('#app/languages/de.ts')).toHaveLength(1);
  const text = (await scripts.textAt('/assets/app/languages/de.ts')) ?? '';
  expect(text.trim()).toMatch(/^export const GERMAN\s+= 'ja';$/);
});

test('modules that import each other are named', () => {
  const scripts = scriptsOf({
    '#app/page.ts': "import { a } from './a.ts';",
    '#app/a.ts': "import { b } from './b.ts';\nexport const a = b;",
    '#app/b.ts': "import { a } from './a.ts';\nexport const b = a;",
  });

  expect(() => scripts.addressesOf('#app/page.ts')).toThrow(
    'Modules import each other: #app/page.ts, #app/a.ts, #app/b.ts, #app/a.ts.',
  );
});
