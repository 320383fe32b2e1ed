import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Variables } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import { dataServiceOptions } from '../../src/data/from-config.ts';
import { writeConfig } from './write-config.ts';

const EXAMPLE = resolve('tollgate.example.yaml');

function load(text: string, env: Variables = {}) {
  return loadConfig({ file: writeConfig(text), env });
}

test('a PostgreSQL URL may name several hosts', () => {
  const url = 'postgres://me:secret@db-1:5432,[::1]:5433,db-3/shop?target_session_attrs=read-write';

  const { payments } = load(`payments: { database: "${url}" }`);

  expect(payments.database).toMatchObject({ kind: 'postgres', url });
});

describe('the embedded default', () => {
  test('without a file only two embedded chains are configured', () => {
    const config = loadConfig({ env: {}, directory: '/srv/tollgate' });

    expect(config.devnet).toEqual({ chains: 2, blocks: 300, trickleMs: 5_000, seed: 1, hardfork: 'prague' });
    expect(config.chains).toEqual([]);
    expect(config.file).toBeUndefined();
    expect(config.payments.database).toEqual({ kind: 'sqlite', file: '/srv/tollgate/var/payments.db' });
  });

  test('a file without chains uses the embedded ones, a file with chains does not', () => {
    const without = load('data: { rateLimit: 5 }');
    const withChain = load(
      'chains: [{ id: 1, name: A, native: { symbol: A }, rpc: ["http://127.0.0.1:1"] }]',
    );

    expect(without.devnet?.chains).toBe(2);
    expect(withChain.devnet).toBeUndefined();
  });

  test('an empty file is the embedded default', () => {
    expect(load('').devnet?.blocks).toBe(300);
    expect(load('# nothing yet\n').devnet?.blocks).toBe(300);
  });
});

test.for([
  ['one process without a load balancer', '', 0],
  ['several workers', 'workers: 2', 5_000],
  ['a load balancer', 'trustedProxies: [10.0.0.5]', 5_000],
  ['a setting of its own', '{ workers: 2, server: { lameDuck: 0s } }', 0],
] as const)('the time to leave a load balancer fits %s', ([, text, lameDuckMs]) => {
  const chains = 'chains: [{ id: 1, name: A, native: { symbol: A }, rpc: ["http://127.0.0.1:1"] }]';
  const file = text.startsWith('{') ? text.replace(/ }$/, `, ${chains} }`) : `${text}\n${chains}`;

  expect(load(file).server.lameDuckMs).toBe(lameDuckMs);
});

describe('the example file', () => {
  test('it loads, and except for its chains it has exactly the defaults', () => {
    const {
      file: _,
      locationOf: _placeOf,
      lineOf: _lineOf,
      directory,
      ...example
    } = loadConfig({ file: EXAMPLE, env: {} });
    const {
      file: __,
      locationOf: __placeOf,
      lineOf: __lineOf,
      directory: ___,
      ...defaults
    } = loadConfig({ env: {}, directory });

    expect(example.chains.map(chain => chain.id)).toEqual([1]);
    expect({ ...example, chains: [] }).toEqual(defaults);
  });

  test('it still loads with every optional line enabled, and then has every key of the schema', () => {
    const text = readFileSync(EXAMPLE, 'utf8')
      .replaceAll(/^(\s*)#(?=\S)/gm, '$1')
      // Certificate files must exist.
      .replaceAll(/\.\/\w+\.(pem|key)/g, EXAMPLE);

    const config = load(text, { BOT_TOKEN: '123:abc' });

    expect(config.payments.messenger).toEqual({
      token: '123:abc',
      apiRoot: 'https://api.telegram.org',
      mode: 'polling',
    });
    const shown = keysOf(parse(text));
    const known = keysOf(propertiesIn(parse(readFileSync('spec/config/schema.yaml', 'utf8'))));
    known.delete('secretKey'); // either this or secretKeyFile: the example names it in a comment
    expect([...known].filter(key => !shown.has(key))).toEqual([]);
  });
});

describe('pages of the data service', () => {
  test.each([
    ['', true],
    ['data: { pages: true }', true],
    ['data: { pages: false }', false],
  ])('with %j, pages are served: %s', (text, arePagesOn) => {
    const config = load(text);

    expect(config.data.pages).toBe(arePagesOn);
    expect(dataServiceOptions(config, []).pages).toBe(arePagesOn);
  });
});

describe('units', () => {
  test.each([
    ['400ms', 400],
    ['30s', 30_000],
    ['2m', 120_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['0s', 0],
  ])('the duration %s is %i milliseconds', (text, ms) => {
    expect(load(`data: { cache: { ttl: ${text} } }`).data.cache.ttlMs).toBe(ms);
  });

  test.each([
    ['512B', 512],
    ['1kB', 1_000],
    ['256MB', 256_000_000],
    ['2GB', 2_000_000_000],
    ['1KiB', 1_024],
    ['64MiB', 67_108_864],
  ])('the size %s is %i bytes', (text, bytes) => {
    expect(load(`data: { cache: { memory: ${text} } }`).data.cache.memoryBytes).toBe(bytes);
  });

  test('a second of a query counts as 20 requests, or as configured', () => {
    const options = (text: string) => dataServiceOptions(load(text), []);

    expect(options('').requestsPerQuerySecond).toBe(20);
    expect(options('data: { queries: { secondCountsAs: 0 } }').requestsPerQuerySecond).toBe(0);
  });

  test.each([
    ['127.0.0.1:3000', { host: '127.0.0.1', port: 3000 }, 'http://127.0.0.1:3000'],
    ['localhost:0', { host: 'localhost', port: 0 }, undefined],
    ['"[::1]:8080"', { host: '::1', port: 8080 }, 'http://[::1]:8080'],
  ])(
    'the listen address %s is a host and a port, and the default of the public URL',
    (text, listen, publicUrl) => {
      expect(load(`data: { listen: ${text} }`).data).toMatchObject({ listen, publicUrl });
    },
  );

  test('lifetimes of operations are milliseconds by operation', () => {
    const { overridesMs } = load('data: { cache: { overrides: { listTransactions: 30s } } }').data.cache;

    expect(overridesMs).toEqual(new Map([['listTransactions', 30_000]]));
  });
});

describe('paths', () => {
  test('relative paths are relative to the folder of the file', () => {
    const file = writeConfig(`
data: { cache: { store: "sqlite:cache.db" } }
payments: { database: "sqlite:../p.db", secretKeyFile: keys/secret }
chains:
  - { id: 5, name: A, native: { symbol: A }, rpc: ["http://n"], abis: ./abis, backends: [{ kind: index }] }
`);

    const config = loadConfig({ file, env: {} });

    const folder = dirname(file);
    expect(config.data.cache.store).toMatchObject({ kind: 'sqlite', file: join(folder, 'cache.db') });
    expect(config.payments.database).toEqual({ kind: 'sqlite', file: resolve(folder, '../p.db') });
    expect(config.payments.secretKey).toEqual({ kind: 'file', file: join(folder, 'keys/secret') });
    expect(config.chains[0]?.abis).toBe(join(folder, 'abis'));
    expect(config.chains[0]?.backends[0]).toEqual({
      kind: 'index',
      database: { kind: 'sqlite', file: join(folder, 'var/index-5.db') },
      fromBlock: 0,
    });
  });

  test.each([
    ['', 1_000_000_000],
    ['storeSize: 64MB, ', 64_000_000],
  ])('with {%s}, the file of the cache stays below %i bytes', (text, sizeBytes) => {
    const config = load(`data: { cache: { ${text}store: "sqlite:/var/cache.db" } }`);

    const { store } = dataServiceOptions(config, []).cache;

    expect(store).toEqual({ kind: 'sqlite', file: '/var/cache.db', sizeBytes });
  });

  test('URLs of shared stores are read unchanged', () => {
    const config = load(`
data: { cache: { store: "rediss://me:p%2Fw@cache.example:6380/2" } }
rateLimitStore: "postgres://u:p@db/limits"
payments: { postgres: { pool: 3 } }
`);

    expect(config.data.cache.store).toEqual({ kind: 'redis', url: 'rediss://me:p%2Fw@cache.example:6380/2' });
    expect(config.rateLimitStore).toMatchObject({
      kind: 'postgres',
      url: 'postgres://u:p@db/limits',
      poolSize: 3,
    });
  });

  test('absolute paths, memory databases and servers stay unchanged', () => {
    const config = load(`
data: { cache: { store: "sqlite:/var/cache.db" } }
payments: { database: "postgres://u:p@db/pay" }
`);

    expect(config.data.cache.store).toMatchObject({ kind: 'sqlite', file: '/var/cache.db' });
    expect(config.payments.database).toEqual({
      kind: 'postgres',
      url: 'postgres://u:p@db/pay',
      poolSize: 10,
      statementTimeoutMs: 30_000,
      lockTimeoutMs: 10_000,
    });
    const index = load(`
data: { postgres: { pool: 4, statementTimeout: 5s } }
chains:
  - { id: 5, name: A, native: { symbol: A }, rpc: ["http://n"], backends: [{ kind: index, database: "postgres://db/all" }] }
`);
    expect(index.chains[0]?.backends[0]).toMatchObject({
      database: { kind: 'postgres', url: 'postgres://db/all', poolSize: 4, statementTimeoutMs: 5_000 },
    });
    expect(load('payments: { database: "sqlite::memory:" }').payments.database).toEqual({
      kind: 'sqlite',
      file: ':memory:',
    });
    expect(load('payments: { database: "sqlite:/var/p.db" }').payments.database).toEqual({
      kind: 'sqlite',
      file: '/var/p.db',
    });
  });
});

describe('the environment', () => {
  const secret = 'k'.repeat(32);

  test.each([
    ['a variable', `"\${KEY}"`, { KEY: secret }, secret],
    ['a variable inside text', `"a-\${KEY}-b"`, { KEY: secret }, `a-${secret}-b`],
    ['the default of an absent variable', `"\${KEY:-${secret}}"`, {}, secret],
    ['the default of an empty variable', `"\${KEY:-${secret}}"`, { KEY: '' }, secret],
    ['a variable rather than its default', `"\${KEY:-x}"`, { KEY: secret }, secret],
    ['a variable of digits, in quotes, as text', `"\${KEY}"`, { KEY: '1'.repeat(40) }, '1'.repeat(40)],
    [
      'the text of a variable that looks like another variable unchanged',
      `"\${KEY}"`,
      { KEY: `\${HOME}${secret}` },
      `\${HOME}${secret}`,
    ],
  ])('a value takes %s', (_, written, env, value) => {
    expect(load(`payments: { secretKey: ${written} }`, env).payments.secretKey).toEqual({
      kind: 'value',
      value,
    });
  });

  test('an unquoted variable may be a number or a boolean', () => {
    const config = load(`data:\n  rateLimit: \${RATE:-7}\n  validateResponses: \${CHECK}\n`, {
      CHECK: 'true',
    });

    expect(config.data).toMatchObject({ rateLimitPerMinute: 7, validateResponses: true });
  });

  test('an empty API key of a back end counts as absent', () => {
    const config = load(`
chains:
  - id: 1
    name: A
    native: { symbol: A }
    backends: [{ kind: blockscout, url: "https://b.example/api/v2/", apiKey: "\${KEY:-}" }]
`);

    expect(config.chains[0]?.backends[0]).toEqual({
      kind: 'blockscout',
      url: 'https://b.example/api/v2',
      apiKey: undefined,
    });
  });

  test.each([
    [{}, false],
    [{ NODE_ENV: 'production' }, false],
    [{ NODE_ENV: 'development' }, true],
    [{ NODE_ENV: 'test' }, true],
  ])('with %o answers are checked against their contract: %s', (env, isChecked) => {
    expect(load('', env).data.validateResponses).toBe(isChecked);
  });

  test('the file is the given one, else that of --config, else that of TOLLGATE_CONFIG', () => {
    const [given, argued, environed] = [1, 2, 3].map(limit => writeConfig(`data: { rateLimit: ${limit} }`));
    const limit = (options: { file?: string; argv?: string[]; env: Variables }) =>
      loadConfig(options).data.rateLimitPerMinute;
    const [argv, env] = [['--config', String(argued)], { TOLLGATE_CONFIG: environed }];

    expect(limit({ file: String(given), argv, env })).toBe(1);
    expect(limit({ argv, env })).toBe(2);
    expect(limit({ env })).toBe(3);
  });
});

describe('formats', () => {
  test('a JSON file works like a YAML file, even with tabs', () => {
    const file = writeConfig('{\n\t"data": {\n\t\t"rateLimit": 9\n\t}\n}\n', 'tollgate.json');

    expect(loadConfig({ file, env: {} }).data.rateLimitPerMinute).toBe(9);
  });

  test('the generated validator loads in plain Node', async () => {
    const script = `
      import { validateConfig } from './generated/config/validators.cjs';
      const file = {};
      console.log(validateConfig(file), file.data.cache.memory, validateConfig({ data: 5 }));`;

    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);

    expect(stdout.trim()).toBe('true 256MB false');
  });
});

/** Every key of every mapping in a value. */
function keysOf(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const inner = Object.values(value).map(keysOf);
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return inner.reduce((all, keys) => all.union(keys), new Set(own));
}

/** The names of all `properties` in a schema, nested like the schema. */
function propertiesIn(schema: unknown): object {
  if (typeof schema !== 'object' || schema === null) return {};
  const { properties, ...rest }: { properties?: object } = schema;
  const inner = [...Object.values(properties ?? {}), ...Object.values(rest)].map(propertiesIn);
  return {
    ...Object.fromEntries(Object.keys(properties ?? {}).map(key => [key, true])),
    ...Object.assign({}, ...inner),
  };
}
