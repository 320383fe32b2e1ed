import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAX_LINES = 300;

/**
 * Who may import whom, most specific folder first. A folder may always import itself. `types:` allows type imports
 * only, `dynamic:` only `await import()`.
 */
const MAY_IMPORT: readonly (readonly [folder: string, allowed: readonly string[]])[] = [
  ['generated/', ['types:src/contract/operations.ts']],
  ['src/lib/', []],
  ['src/config/', ['generated/config/', 'src/lib/']],
  ['src/db/', ['src/lib/']],
  ['src/http/', ['src/lib/']],
  ['src/chain/', ['src/lib/']],
  ['src/contract/', ['generated/', 'src/http/', 'src/lib/']],
  ['src/devnet/', ['generated/devnet/', 'src/chain/', 'src/lib/']],
  ['src/indexer/', ['types:generated/devnet/', 'src/chain/', 'src/db/', 'src/lib/']],
  ['src/data/port/', ['types:src/contract/', 'src/lib/']],
  ['src/data/cache/', ['src/data/port/', 'src/db/', 'src/lib/']],
  ['src/data/chains/', ['src/data/port/', 'src/lib/']],
  ['src/data/upstream/', ['src/data/port/', 'src/lib/']],
  [
    'src/data/backends/blockscout/',
    ['src/data/port/', 'src/data/upstream/', 'types:src/contract/', 'src/lib/'],
  ],
  [
    'src/data/backends/insight/',
    [
      'src/data/port/',
      'src/data/upstream/',
      'src/data/insights/fields.ts',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/data/backends/index/',
    [
      'src/data/port/',
      'types:src/contract/',
      'src/lib/',
      'src/indexer/reader/',
      'src/indexer/query/query.ts',
      'types:src/indexer/place.ts',
    ],
  ],
  [
    'src/data/',
    [
      'src/contract/',
      'src/http/',
      'src/db/',
      'src/chain/',
      'src/config/',
      'src/lib/',
      'types:src/indexer/',
      'dynamic:src/indexer/',
    ],
  ],
  ['src/payments/model/', ['types:src/contract/', 'src/lib/']],
  ['src/payments/store/', ['src/payments/model/', 'src/db/', 'types:src/contract/', 'src/lib/']],
  [
    'src/payments/watcher/',
    [
      'src/payments/model/',
      'src/payments/store/',
      'src/db/',
      'src/chain/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/checkout/',
    [
      'src/payments/model/',
      'src/payments/store/',
      'src/contract/payments-errors.ts',
      'types:src/contract/',
      'src/http/',
      'src/db/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/outbox/',
    ['src/payments/model/', 'src/payments/store/', 'src/db/', 'types:src/contract/', 'src/lib/'],
  ],
  [
    'src/payments/webhooks/',
    ['src/payments/model/', 'src/payments/store/', 'src/http/', 'src/db/', 'types:src/contract/', 'src/lib/'],
  ],
  [
    'src/payments/notifications/',
    ['src/payments/model/', 'src/payments/store/', 'src/http/', 'src/db/', 'types:src/contract/', 'src/lib/'],
  ],
  [
    'src/payments/api/',
    [
      'src/payments/model/',
      'src/payments/store/',
      'src/payments/webhooks/',
      'src/payments/notifications/',
      'src/contract/',
      'src/http/',
      'src/db/',
      'src/lib/',
    ],
  ],
  ['src/payments/', ['src/contract/', 'src/http/', 'src/db/', 'src/chain/', 'src/config/', 'src/lib/']],
  [
    'src/main.ts',
    [
      'src/config/',
      'src/data/service.ts',
      'src/data/from-config.ts',
      'src/payments/service.ts',
      'src/payments/from-config.ts',
      'src/embedded.ts',
      'src/http/',
      'src/lib/',
    ],
  ],
  [
    'src/embedded.ts',
    [
      'src/config/',
      'types:src/data/open-chain.ts',
      'types:src/payments/from-config.ts',
      'types:src/devnet/',
      'dynamic:src/devnet/',
      'src/lib/',
    ],
  ],
];

/** Where a package may be imported; every other package may be imported anywhere. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  knex: ['src/db/', 'src/payments/store/', 'src/indexer/store/', 'src/indexer/reader/', 'src/data/cache/'],
  pg: ['src/db/'],
  keyv: ['src/data/cache/'],
  undici: ['src/data/upstream/', 'src/http/guarded-fetch'],
  'openapi-backend': ['src/contract/mount.ts', 'src/contract/router.ts'],
  nodemailer: ['src/payments/notifications/'],
  grammy: ['src/payments/notifications/'],
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly kind: 'value' | 'types' | 'dynamic';
}

const sources = filesBelow('src');
const imports = sources.flatMap(importsOf);

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function importsOf(file: string): Import[] {
  const text = read(file);
  const found: Import[] = [];
  for (const match of text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)'/gm)) {
    found.push({ from: file, to: target(file, match[2]), kind: match[1] === undefined ? 'value' : 'types' });
  }
  for (const match of text.matchAll(/import\('([^']+)'\)/g)) {
    found.push({ from: file, to: target(file, match[1]), kind: 'dynamic' });
  }
  return found;
}

function target(file: string, specifier = ''): string {
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier;
}

function isAllowed({ from, to, kind }: Import): boolean {
  const row = MAY_IMPORT.find(([folder]) => from.startsWith(folder));
  if (row === undefined) return false;
  const [own, allowed] = row;
  if (to.startsWith(own)) return true;
  // The folders of the data service meet in its root files.
  if (own === 'src/data/' && to.startsWith('src/data/')) return true;
  return allowed.some(entry => {
    if (entry.startsWith('types:')) return kind === 'types' && to.startsWith(entry.slice(6));
    if (entry.startsWith('dynamic:')) return kind === 'dynamic' && to.startsWith(entry.slice(8));
    return to.startsWith(entry);
  });
}

const inProject = (path: string) => path.startsWith('src/') || path.startsWith('generated/');

test('every import is in the import table', () => {
  const wrong = imports.filter(one => inProject(one.to) && !isAllowed(one));

  expect(wrong.map(({ from, to, kind }) => `${from} → ${to} (${kind})`)).toEqual([]);
});

test('the check of imports sees the imports there are', () => {
  expect(imports.length).toBeGreaterThan(sources.length);
  expect(isAllowed({ from: 'src/lib/a.ts', to: 'src/db/open.ts', kind: 'value' })).toBe(false);
  expect(isAllowed({ from: 'src/data/port/a.ts', to: 'src/contract/mount.ts', kind: 'value' })).toBe(false);
});

test('packages with one place in the design are imported there only', () => {
  const wrong = imports.filter(({ from, to }) => {
    const places = PACKAGES[to];
    return places !== undefined && !places.some(place => from.startsWith(place));
  });

  expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});

test('contracts under generated/ are imported by contract and config only', () => {
  const wrong = imports.filter(
    ({ from, to }) =>
      /^generated\/(explorer|insights|payments|config)\//.test(to) && !/^src\/(contract|config)\//.test(from),
  );

  expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});

test('no import leads in a circle', () => {
  const graph = new Map<string, string[]>();
  for (const { from, to, kind } of imports) {
    if (kind === 'value' && to.startsWith('src/')) graph.set(from, [...(graph.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    else if (!done.has(file)) {
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    }
  };
  for (const file of graph.keys()) visit(file, []);

  expect(circles).toEqual([]);
});

test('no source file is longer than 300 lines', () => {
  const long = [...sources, ...filesBelow('scripts')].filter(
    file => read(file).split('\n').length > MAX_LINES,
  );

  expect(long).toEqual([]);
});

test('process.env is read in one file', () => {
  const readers = sources.filter(file => /process\.env\b/.test(read(file)));

  expect(readers).toEqual(['src/config/environment.ts']);
});

test('casts stand in the cache’s adapters only, whose values Keyv types by the caller', () => {
  const cast = /\bas (?!const\b|unknown\b|this\b)[A-Z{[][\w<>, [\]|]*|\bas (?:any|unknown as)\b/;
  const casting = sources.filter(file =>
    read(file)
      .split('\n')
      .some(
        line =>
          !/^\s*(import|export|\*|\/\/|\/\*\*)/.test(line) && cast.test(line.replace(/'[^']*'|`[^`]*`/g, '')),
      ),
  );

  expect(casting.map(file => relative('src', file)).sort()).toEqual([
    'data/cache/memory-store.ts',
    'data/cache/sqlite-store.ts',
  ]);
});
