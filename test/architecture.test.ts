import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAX_LINES = 300;
/** A list of texts is as long as its texts (Decision 445). */
const LANGUAGE = /^src\/payments\/browser\/languages\/[a-z]{2}\.ts$/;
const FOLDER_SIZE = { least: 3, most: 15 };

/** Folders of another size, with the reason. */
const OTHER_SIZES: Readonly<Record<string, string>> = {
  src: 'the entry of the process',
  'src/data/pages': 'the routes of its pages',
  'src/payments/dashboard': 'the routes of its pages',
  'src/data/backends/blockscout/normalise': 'one normaliser per record',
};

/**
 * Allowed imports, most specific folder first. A folder may always import itself. `types:` allows type imports only,
 * `dynamic:` only `await import()`.
 */
const MAY_IMPORT: readonly (readonly [folder: string, allowed: readonly string[]])[] = [
  ['generated/', ['types:src/contract/contracts/operations.ts']],
  ['src/lib/', []],
  ['src/evm/', []],
  ['src/query-model/', ['types:src/contract/', 'types:src/indexer/schema/']],
  ['src/config/', ['generated/config/', 'src/db/postgres/address.ts', 'src/lib/']],
  ['src/db/', ['src/lib/']],
  ['src/stores/', ['src/db/', 'types:src/http/metrics.ts', 'src/lib/']],
  ['src/http/', ['src/lib/']],
  ['src/node/', ['src/http/fetch/', 'src/evm/', 'src/lib/']],
  ['src/contract/', ['generated/', 'src/http/', 'src/lib/']],
  ['src/pages/browser/', []],
  ['src/pages/', ['src/http/', 'src/lib/']],
  ['src/deposits/', ['types:src/node/', 'src/node/client.ts', 'src/evm/']],
  [
    'src/devnet/',
    [
      'generated/devnet/',
      'src/deposits/deposit-factory.ts',
      'src/deposits/deterministic-proxy.ts',
      'src/evm/',
      'src/lib/',
    ],
  ],
  [
    'src/indexer/query/records/',
    ['types:src/contract/', 'types:src/indexer/query/', 'src/query-model/', 'src/evm/', 'src/lib/'],
  ],
  [
    'src/indexer/',
    [
      'types:generated/devnet/',
      'types:src/stores/disk-space.ts',
      'src/node/',
      'src/db/',
      'src/query-model/',
      'src/evm/',
      'src/lib/',
    ],
  ],
  ['src/data/backends/port/', ['types:src/contract/', 'src/query-model/', 'src/lib/']],
  ['src/data/backends/upstream-json/', ['src/data/backends/port/', 'src/lib/']],
  [
    'src/data/backends/upstream/',
    ['src/data/backends/port/', 'src/data/backends/upstream-json/', 'src/http/fetch/', 'src/lib/'],
  ],
  [
    'src/data/backends/blockscout/',
    [
      'src/data/backends/port/',
      'src/data/backends/upstream/',
      'src/data/backends/upstream-json/',
      'types:src/contract/',
      'src/evm/',
      'src/lib/',
    ],
  ],
  [
    'src/data/backends/thirdweb/',
    [
      'src/data/backends/port/',
      'src/data/backends/upstream/',
      'src/data/backends/upstream-json/',
      'types:src/contract/',
      'src/query-model/',
      'src/evm/',
      'src/lib/',
    ],
  ],
  [
    'src/data/backends/own-index/',
    [
      'src/data/backends/port/',
      'types:src/contract/',
      'types:src/indexer/index-reader.ts',
      'types:src/indexer/index-service.ts',
      'src/indexer/read/',
      'src/indexer/query/query.ts',
      'src/indexer/schema/search-key.ts',
      'types:src/indexer/schema/block-position.ts',
      'src/http/fetch/',
      'src/node/',
      'src/query-model/',
      'src/evm/',
      'src/lib/',
    ],
  ],
  [
    'src/data/cache/',
    [
      'src/stores/patience.ts',
      'src/stores/store-failures.ts',
      'dynamic:src/stores/redis-connection.ts',
      'types:src/stores/',
      'src/db/',
      'src/http/representation.ts',
      'src/lib/',
    ],
  ],
  ['src/data/fallback/', ['src/data/backends/port/', 'src/http/metrics.ts', 'src/lib/']],
  [
    'src/data/serve/',
    [
      'src/data/backends/port/',
      'src/data/cache/',
      'src/data/fallback/',
      'types:src/contract/',
      'src/http/',
      'src/lib/',
    ],
  ],
  [
    'src/data/explorer/',
    [
      'src/data/backends/port/',
      'src/data/cache/',
      'src/data/fallback/',
      'src/data/serve/',
      'src/contract/',
      'src/http/',
      'src/lib/',
    ],
  ],
  [
    'src/data/live/',
    ['src/data/backends/port/', 'src/data/fallback/', 'src/contract/', 'src/evm/', 'src/http/', 'src/lib/'],
  ],
  [
    'src/data/insights/',
    [
      'src/data/backends/port/',
      'src/data/cache/',
      'src/data/fallback/',
      'src/data/serve/',
      'src/contract/',
      'src/query-model/',
      'src/http/',
      'src/lib/',
    ],
  ],
  ['src/data/abi-files/', ['src/evm/', 'src/lib/']],
  [
    'src/data/pages/browser/',
    [
      'src/pages/browser/',
      'types:generated/explorer/',
      'types:generated/insights/',
      'types:generated/data-service/',
    ],
  ],
  ['src/data/pages/', ['types:src/contract/', 'src/pages/', 'src/http/', 'src/lib/']],
  [
    'src/data/',
    [
      'src/contract/',
      'src/pages/reference/',
      'src/http/',
      'src/db/',
      'src/stores/disk-space.ts',
      'src/node/',
      'src/evm/',
      'src/config/',
      'src/lib/',
      'types:src/indexer/',
      'dynamic:src/indexer/',
    ],
  ],
  ['src/payments/browser/', ['types:generated/payments/', 'types:generated/dashboard/']],
  ['src/payments/model/', ['types:src/contract/', 'src/evm/', 'src/lib/']],
  ['src/payments/tables/', ['types:src/payments/model/', 'src/db/', 'types:src/contract/']],
  ['src/payments/amounts/', ['src/payments/model/', 'types:src/contract/', 'src/lib/']],
  ['src/payments/secrets/', ['src/payments/tables/', 'src/db/', 'src/lib/']],
  [
    'src/payments/store/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/keys/',
    ['src/payments/model/', 'src/payments/tables/', 'src/payments/store/', 'src/db/', 'src/lib/'],
  ],
  [
    'src/payments/members/',
    [
      'types:src/payments/browser/',
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/store/',
      'src/db/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/recipients/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'types:src/payments/secrets/',
      'src/payments/store/',
      'src/payments/notifications/store/',
      'src/contract/contracts/violations.ts',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/deposits/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/notifications/store/',
      'src/deposits/',
      'src/evm/',
      'src/http/',
      'src/db/',
      'types:src/node/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/customers/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/db/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/search/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/customers/',
      'src/payments/sessions/',
      'src/db/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/sessions/',
    [
      'src/payments/customers/',
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/amounts/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/recipients/',
      'src/payments/deposits/',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/notifications/',
    [
      'src/payments/browser/',
      'src/payments/members/',
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/amounts/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/http/',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/webhooks/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/notifications/store/',
      'src/http/',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/events/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/notifications/store/',
      'src/payments/webhooks/store/',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/stats/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/store/',
      'types:src/contract/',
      'src/db/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/refunds/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/sessions/',
      'src/payments/events/',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/settlement/',
    [
      'src/payments/customers/',
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/sessions/',
      'src/payments/events/',
      'src/payments/deposits/',
      'src/payments/refunds/',
      'src/db/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/watcher/',
    [
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/recipients/',
      'src/payments/deposits/',
      'src/payments/sessions/',
      'src/payments/refunds/',
      'src/payments/settlement/',
      'src/payments/deposits/',
      'src/deposits/',
      'src/db/',
      'src/node/',
      'src/evm/',
      'types:src/contract/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/checkout/page/browser/',
    ['src/pages/browser/', 'src/payments/browser/', 'types:generated/payments/'],
  ],
  [
    'src/payments/checkout/',
    [
      'src/payments/browser/',
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/amounts/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/recipients/',
      'src/payments/sessions/',
      'src/payments/refunds/',
      'src/payments/notifications/store/',
      'src/payments/settlement/',
      'src/contract/contracts/payments-errors.ts',
      'types:src/contract/',
      'src/pages/',
      'src/http/',
      'src/db/',
      'src/evm/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/images/',
    [
      'src/payments/browser/image-address.ts',
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/store/',
      'src/contract/contracts/violations.ts',
      'types:src/contract/',
      'src/http/',
      'src/db/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/api/',
    [
      'src/payments/browser/image-address.ts',
      'src/payments/images/',
      'src/payments/model/',
      'src/payments/tables/',
      'src/payments/amounts/',
      'src/payments/secrets/',
      'src/payments/store/',
      'src/payments/keys/',
      'src/payments/recipients/',
      'src/payments/deposits/',
      'src/payments/sessions/',
      'src/payments/customers/',
      'src/payments/search/',
      'src/payments/deposits/',
      'src/payments/refunds/',
      'src/payments/settlement/',
      'src/payments/stats/',
      'src/payments/events/',
      'src/payments/webhooks/',
      'src/payments/notifications/',
      'src/contract/',
      'src/stores/database-counters.ts',
      'src/http/',
      'src/db/',
      'types:src/node/transaction-proof.ts',
      'src/lib/',
    ],
  ],
  [
    'src/payments/dashboard/browser/',
    [
      'src/pages/browser/',
      'src/payments/browser/',
      'src/payments/checkout/page/browser/',
      'types:generated/payments/',
      'types:generated/dashboard/',
    ],
  ],
  [
    'src/payments/dashboard/',
    [
      'src/pages/',
      'src/payments/model/',
      'src/payments/tables/',
      'types:src/payments/secrets/',
      'src/payments/browser/',
      'src/payments/keys/',
      'src/payments/members/',
      'src/payments/audit/audit-store.ts',
      'src/payments/api/gate/',
      'src/payments/api/responses/',
      'types:src/payments/api/',
      'src/payments/notifications/store/',
      'src/contract/',
      'src/http/',
      'src/db/',
      'src/lib/',
    ],
  ],
  [
    'src/payments/',
    [
      'src/contract/',
      'src/pages/',
      'src/http/',
      'src/db/',
      'src/node/',
      'src/config/',
      'src/evm/',
      'src/lib/',
    ],
  ],
  [
    'src/command/',
    [
      'src/config/',
      'types:src/contract/',
      'src/data/cache/001-entries.ts',
      'src/data/open-remote.ts',
      'src/data/backends/upstream/exchange-error.ts',
      'src/deposits/',
      'src/devnet/chain/engine.ts',
      'src/evm/',
      'src/payments/',
      'src/http/server/server.ts',
      'src/indexer/schema/migrations/',
      'src/indexer/schema/unread-blocks.ts',
      'src/indexer/state/verify-state.ts',
      'types:src/indexer/state/compare-state.ts',
      'src/indexer/fetch/block-body.ts',
      'src/indexer/fetch/node-capabilities.ts',
      'src/indexer/fetch/unreadable.ts',
      'src/node/',
      'src/http/metrics.ts',
      'src/db/',
      'src/stores/',
      'src/http/fetch/',
      'dynamic:src/program/program.ts',
      'src/lib/',
    ],
  ],
  ['src/main.ts', ['src/config/environment.ts', 'dynamic:src/program/program.ts']],
  [
    'src/program/',
    [
      'src/config/',
      'types:src/data/',
      'dynamic:src/data/',
      'src/devnet/embedded-chain.ts',
      'types:src/devnet/',
      'dynamic:src/devnet/',
      'types:src/payments/',
      'dynamic:src/payments/',
      'dynamic:src/stores/',
      'src/http/',
      'src/lib/',
    ],
  ],
];

/** Places that may import a package; every other package may be imported anywhere. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  knex: ['src/db/'],
  // Queries of an index run in threads, with their own client.
  pg: ['src/db/', 'src/indexer/query/postgres/query-connection.ts'],
  keyv: ['src/data/cache/'],
  '@keyv/redis': ['src/data/cache/redis-layer.ts'],
  '@redis/client': ['src/stores/redis-connection.ts'],
  'rate-limiter-flexible': ['src/lib/request-counters.ts', 'src/stores/'],
  undici: [
    'src/data/backends/upstream/',
    'src/devnet/chain/rpc.ts',
    'src/http/fetch/',
    'src/node/transport/',
  ],
  'openapi-backend': ['src/contract/mount/'],
  nodemailer: ['src/payments/notifications/mailers.ts'],
  grammy: ['src/payments/notifications/messenger.ts'],
  '@nomicfoundation/edr': ['src/devnet/chain/edr/'],
};

/**
 * The doors: all places of the servers through which anything leaves the process, with what goes out there. Browser
 * code is not among them.
 */
const DOORS: Readonly<Record<string, string>> = {
  'src/node/transport/exchange.ts': 'nodes',
  'src/data/backends/upstream/': 'back ends',
  'src/http/fetch/': 'webhooks, pictures, documents of tokens, names outside of the chain',
  'src/payments/notifications/mailers.ts': 'mail',
  'src/payments/notifications/messenger.ts': 'the bot',
  'src/db/': 'databases',
  'src/indexer/query/postgres/query-connection.ts': 'databases',
  'src/stores/redis-connection.ts': 'Redis',
  'src/data/cache/redis-layer.ts': 'Redis',
  'src/devnet/chain/': 'embedded chains',
};

/** Places that only commands run, or that only listen. */
const NO_DOORS: Readonly<Record<string, string>> = {
  'src/command/': 'commands of an operator',
  'src/http/server/': 'listeners',
  'src/lib/untyped-packages.d.ts': 'types',
};

/** Packages and modules that can open a connection. */
const CAN_CONNECT =
  /^(undici|pg|nodemailer|grammy|@redis\/client|@keyv\/redis|ws|(node:)?(net|tls|http|https|http2|dgram|dns|dns\/promises))$/;
/** Names in these modules that connect to nothing. */
const HARMLESS = ['isIP', 'ServerResponse'];
/** Functions of viem that open connections of their own. */
const VIEM_TRANSPORTS = ['http', 'webSocket', 'ccipRequest', 'offchainLookup'];

/** Everything in a file that can open a connection. */
function waysOutOf(file: string): string[] {
  const text = read(file);
  const imported = [...text.matchAll(/^import (?!type)([^;]*?) from '([^']+)'/gm)].flatMap(
    ([, names = '', from = '']) => {
      const used = names
        .replaceAll(/[{}\s]|type \w+,?/g, '')
        .split(',')
        .filter(name => name !== '' && !HARMLESS.includes(name));
      if (CAN_CONNECT.test(from)) return used.length > 0 ? [from] : [];
      return from === 'viem' ? used.filter(name => VIEM_TRANSPORTS.includes(name)) : [];
    },
  );
  const loaded = [...text.matchAll(/import\('([^']+)'\)/g)].flatMap(([, from = '']) =>
    CAN_CONNECT.test(from) ? [from] : [],
  );
  const global = /(?<![\w.$'`])(fetch|WebSocket|EventSource)\((?!request: )/.test(text) ? ['fetch'] : [];
  // viem's clients request URLs that a contract names, unless told otherwise.
  const byContract = /createPublicClient\(\{(?![^}]*ccipRead: false)/.test(text) ? ['CCIP-Read'] : [];
  return [...imported, ...loaded, ...global, ...byContract];
}

interface Import {
  readonly from: string;
  readonly to: string;
  readonly kind: 'value' | 'types' | 'dynamic';
}

/** The subpath imports of package.json, as prefixes: `#evm/` is `src/evm/`. */
const SUBPATHS: readonly (readonly [alias: string, folder: string])[] = Object.entries<string>(
  JSON.parse(read('package.json')).imports,
).map(([alias, folder]) => [alias.slice(0, -1), normalize(folder.slice(0, -1))]);

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
  const subpath = SUBPATHS.find(([alias]) => specifier.startsWith(alias));
  const path =
    subpath === undefined ? normalize(join(dirname(file), specifier)) : specifier.replace(...subpath);
  return specifier.startsWith('.') || subpath !== undefined ? path : specifier;
}

function isAllowed({ from, to, kind }: Import): boolean {
  const row = MAY_IMPORT.find(([folder]) => from.startsWith(folder));
  if (row === undefined) return false;
  const [own, allowed] = row;
  if (to.startsWith(own)) return true;
  return allowed.some(entry => {
    if (entry.startsWith('types:')) return kind === 'types' && to.startsWith(entry.slice(6));
    if (entry.startsWith('dynamic:')) return kind === 'dynamic' && to.startsWith(entry.slice(8));
    return to.startsWith(entry);
  });
}

/** Every cycle of a graph, as its path. */
function circlesOf(edges: Iterable<readonly [from: string, to: string]>): string[] {
  const graph = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) circles.push([...path.slice(path.indexOf(node)), node].join(' → '));
    else if (!done.has(node)) {
      for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
      done.add(node);
    }
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}

const inProject = (path: string) => path.startsWith('src/') || path.startsWith('generated/');

test('every import is in the import table', () => {
  const wrong = imports.filter(one => inProject(one.to) && !isAllowed(one));

  expect(wrong.map(({ from, to, kind }) => `${from} → ${to} (${kind})`)).toEqual([]);
});

test('the check of imports finds imports', () => {
  expect(imports.length).toBeGreaterThan(sources.length);
  expect(target('src/payments/api/links/links.ts', '#evm/abi/abi.ts')).toBe('src/evm/abi/abi.ts');
  expect(isAllowed({ from: 'src/lib/a.ts', to: 'src/db/open.ts', kind: 'value' })).toBe(false);
  expect(
    isAllowed({ from: 'src/data/backends/port/a.ts', to: 'src/contract/mount/mount.ts', kind: 'value' }),
  ).toBe(false);
});

test('scripts and tests share test/lab and little else', () => {
  const others = [...filesBelow('scripts'), ...filesBelow('test')].flatMap(importsOf);
  const wrong = others.filter(({ from, to }) => {
    if (from.startsWith('test/lab/'))
      return !/^(test\/lab|src|generated)\//.test(to) && /^(test|scripts|vitest)/.test(to);
    if (from.startsWith('scripts/')) return to.startsWith('test/') && !to.startsWith('test/lab/');
    // The runners of the contract and of the examples are the judges of many tests.
    return (
      to.startsWith('scripts/') &&
      !/^(test\/scripts\/.*|.* scripts\/(contract|examples|generate)\/.*)$/.test(`${from} ${to}`)
    );
  });

  expect(others.length).toBeGreaterThan(imports.length / 2);
  expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});

test('a quick test starts no browser, and no program but a chain', () => {
  const files = [...filesBelow('scripts'), ...filesBelow('test')];
  const found = new Map(files.map(file => [file, importsOf(file).filter(({ kind }) => kind !== 'types')]));
  const starts = (file: string, seen: Set<string>): string[] => {
    if (seen.has(file)) return [];
    seen.add(file);
    return (found.get(file) ?? []).flatMap(({ to }) =>
      /^(node:child_process|playwright-core)$/.test(to) ? [`${file} → ${to}`] : starts(to, seen),
    );
  };
  const programsOf = (file: string) => starts(file, new Set());
  const quick = files.filter(file => file.endsWith('.test.ts') && !file.endsWith('.slow.test.ts'));

  expect(quick.flatMap(programsOf)).toEqual([]);
  expect(programsOf('test/pages/home.slow.test.ts')).not.toEqual([]);
});

test('every folder in the import table exists', () => {
  const rooms = MAY_IMPORT.flatMap(([folder, allowed]) => [
    folder,
    ...allowed.map(entry => entry.replace(/^(types|dynamic):/, '')),
  ]);
  const empty = rooms.filter(room => room.startsWith('src/') && !sources.some(file => file.startsWith(room)));

  expect(empty).toEqual([]);
});

test('everything that leaves a process goes through one of the named doors', () => {
  const waysOut = sources
    .filter(file => !file.includes('/browser/'))
    .flatMap(file => waysOutOf(file).map(way => ({ file, way })));
  const isAt = (places: object) => (file: string) =>
    Object.keys(places).some(place => file.startsWith(place));
  const outside = waysOut.filter(({ file }) => !isAt(DOORS)(file) && !isAt(NO_DOORS)(file));
  const doors = Object.keys(DOORS).filter(door => waysOut.some(({ file }) => file.startsWith(door)));

  expect(outside).toEqual([]);
  expect(doors).toEqual(Object.keys(DOORS));
});

test('the architecture names every door', () => {
  const text = read('ARCHITECTURE.md');

  expect(Object.keys(DOORS).filter(door => !text.includes(`\`${door}\``))).toEqual([]);
});

test('packages with one place in the design are imported only there', () => {
  const wrong = imports.filter(({ from, to }) => {
    const places = PACKAGES[to];
    return places !== undefined && !places.some(place => from.startsWith(place));
  });

  expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});

test('contracts under generated/ are imported only by contract and config, their types by pages too', () => {
  const wrong = imports.filter(
    ({ from, to, kind }) =>
      /^generated\/(explorer|insights|payments|dashboard|config)\//.test(to) &&
      !/^src\/(contract|config)\//.test(from) &&
      !(kind === 'types' && from.includes('/browser/')),
  );

  expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});

test('templates have plain elements only: the compiler checks components, which `h` makes', () => {
  const withComponent = (text: string) => /html`.*<\$\{/s.test(text);
  const wrong = sources.filter(file => withComponent(readFileSync(join(ROOT, file), 'utf8')));

  expect(wrong).toEqual([]);
  expect(withComponent(['html`<p><$', '{Card} title="a" /></p>`'].join(''))).toBe(true);
});

test('imports form no cycle between files, type imports included', () => {
  expect(
    circlesOf([
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
    ]),
  ).toEqual(['a → b → c → a']);

  expect(circlesOf(imports.map(({ from, to }) => [from, to]))).toEqual([]);
});

test('imports form no cycle between folders, type imports included', () => {
  const between = imports.filter(({ to }) => to.startsWith('src/'));

  expect(circlesOf(between.map(({ from, to }) => [dirname(from), dirname(to)]))).toEqual([]);
});

test('a folder holds 3 to 15 files', () => {
  const sizes = new Map<string, number>();
  for (const file of sources) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
  const wrong = [...sizes].filter(
    ([folder, size]) => !(folder in OTHER_SIZES) && (size < FOLDER_SIZE.least || size > FOLDER_SIZE.most),
  );

  expect(wrong.map(([folder, size]) => `${folder}: ${size}`)).toEqual([]);
  expect(Object.keys(OTHER_SIZES).filter(folder => !sizes.has(folder))).toEqual([]);
});

test('no source file is longer than 300 lines', () => {
  const long = [...sources, ...filesBelow('scripts')].filter(
    file => !LANGUAGE.test(file) && read(file).split('\n').length > MAX_LINES,
  );

  expect(long).toEqual([]);
});

test('process.env is read in one file', () => {
  // The programs that the dashboard shows are strings.
  const shown = 'src/payments/dashboard/browser/webhooks/receivers.ts';
  const readers = sources.filter(file => file !== shown && /process\.env\b/.test(read(file)));

  expect(readers).toEqual(['src/config/environment.ts']);
});

test('the clock of the machine is read in one file, and by the log and the client of nodes', () => {
  const browsers = /\/browser\//;
  const readers = sources.filter(
    file => !browsers.test(file) && /\bDate\.now\(|\bnew Date\(\)/.test(read(file)),
  );

  expect(readers.toSorted()).toEqual([
    'src/lib/clock.ts',
    'src/lib/logger.ts',
    'src/node/transport/exchange.ts',
  ]);
});

test('the clock of the machine decides about payments and indexes only through that of their database', () => {
  const users = sources.filter(file => /\bsystemClock\b/.test(read(file)));

  expect(users.filter(file => /^src\/(?:payments|indexer)\//.test(file))).toEqual([
    'src/indexer/query/postgres/query-connection.ts', // a pause only
  ]);
});

test('casts appear only in the cache’s adapter, whose values Keyv types by the caller', () => {
  const cast = /\bas (?!const\b|unknown\b|this\b)[A-Z{[][\w<>, [\]|]*|\bas (?:any|unknown as)\b/;
  const casting = sources.filter(file =>
    read(file)
      .split('\n')
      .some(
        line =>
          !/^\s*(import|export|\*|\/\/|\/\*\*|<)/.test(line) &&
          cast.test(line.replace(/'[^']*'|`[^`]*`|\[\w+ in [^:]* as (?=\w+<)/g, '')),
      ),
  );

  expect(casting.map(file => relative('src', file)).sort()).toEqual(['data/cache/sqlite-store.ts']);
});

test('the kind of a database makes a difference only in src/db', () => {
  const branch = /\bdialect\??\.name\b|[=!]== '(?:postgres|sqlite)'|\bcase '(?:postgres|sqlite)'/;
  const branching = sources.filter(file => branch.test(read(file)));
  // A query thread loads only its own driver.
  const loader = 'src/indexer/query/threads/open-engine.ts';

  expect(branching.filter(file => !file.startsWith('src/db/'))).toEqual([loader]);
  expect(branching.length).toBeGreaterThan(3);
});

test('no statement is sent with a row type through knex’s raw, which does not check it', () => {
  expect(sources.filter(file => /\braw</.test(read(file)))).toEqual([]);
});

/** Guides to the source tree. */
const GUIDES = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'spec/README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter(name => name.endsWith('.md'))
    .map(name => join('docs', name)),
  ...readdirSync(join(ROOT, 'spec'))
    .map(name => join('spec', name, 'decisions.md'))
    .filter(file => existsSync(join(ROOT, file))),
];

test('every path in a guide exists', () => {
  const named = GUIDES.flatMap(file =>
    [...read(file).matchAll(/`((?:src|spec|scripts|test|docs)\/[\w./-]*)`/g)].map(([, path = '']) => path),
  );

  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(path => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('every test named in the threat model and in the architecture is in its file', () => {
  const guides = read('docs/threat-model.md') + read('ARCHITECTURE.md');
  const named = [...guides.matchAll(/`(test\/[\w./-]+)`: ((?:"[^"]+"(?:, )?)+)/g)].flatMap(
    ([, file = '', names = '']) =>
      [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => ({
        file,
        name: name.replaceAll(/\s+/g, ' '),
      })),
  );

  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ file, name }) => !read(file).includes(name))).toEqual([]);
});
