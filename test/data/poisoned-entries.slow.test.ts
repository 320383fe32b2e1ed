import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { CacheStoreOptions } from '../../src/data/cache/open-second-layer.ts';
import { openDatabase } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { entityTag } from '../../src/http/representation.ts';
import { openRedis } from '../../src/stores/redis-connection.ts';
import { blockscoutChain, startTestDataService } from '../lab/data-service.ts';
import { startOwnRedis } from '../lab/redis.ts';
import { startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { countedFailures } from '../support/store-failures.ts';
import { LIFETIMES } from './answer-support.ts';
import { hasFirst, KEY, one } from './http-failures-support.ts';

const PATH = '/explorer/blocks/5/transactions';
const CODINGS = ['br', 'gzip', 'identity'] as const;
const RUNS = 500;
/** With so little memory a service holds no entry, and reads the store for every request. */
const NO_MEMORY = 1_000;
const MEMORY = 2 ** 20;
const LONG_AGO = 1_000;
const FAR_AHEAD = 9e15;

/** Entry in the form of JSON, with bytes as `:base64:` texts. */
type StoredValue = Record<string, unknown>;

/** Access of a stranger to the store of a cache with one entry. */
interface Shelf {
  read(): Promise<StoredValue>;
  write(entry: unknown): Promise<void>;
}

test('a poisoned entry in Redis never causes a 500, a split header or a body that is not its own', async () => {
  await using redis = await startOwnRedis();
  const access = { url: redis.url, title: 'Redis', setting: 'store', failures: countedFailures() };
  const { client, close } = await openRedis(access);
  await using _closed = { [Symbol.asyncDispose]: async () => close() };

  await expectHarmless({ kind: 'redis', url: redis.url }, async () => {
    const [key = ''] = await client.keys('tollgate:*');
    return {
      read: async () => JSON.parse((await client.get(key)) ?? '').value,
      write: async value => void (await client.set(key, JSON.stringify({ value }) ?? '')),
    };
  });
});

test('a poisoned entry in SQLite never causes a 500, a split header or a body that is not its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-poison-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'cache.db');

  await expectHarmless({ kind: 'sqlite', file, sizeBytes: 64_000_000 }, async () => {
    const db = openDatabase({ file });
    onTestFinished(() => db.destroy());
    return {
      async read() {
        const [row] = await rowsOf<{ facts: string; identity: Buffer; br: Buffer | null }>(
          db,
          'select facts, identity, br from entries',
        );
        if (row === undefined) throw new Error('the store is empty');
        const { etag, ...facts } = JSON.parse(row.facts);
        return { ...facts, representation: { etag, identity: text(row.identity), br: text(row.br ?? 'x') } };
      },
      async write(entry) {
        const { representation, ...facts } = isTree(entry) ? entry : { representation: {} };
        const { etag, identity, br, gzip } = isTree(representation) ? representation : {};
        await execute(db, 'update entries set facts = ?, identity = ?, br = ?, gzip = ?', [
          JSON.stringify(isTree(entry) ? { ...facts, etag } : entry) ?? '',
          bytes(identity) ?? Buffer.alloc(0),
          bytes(br),
          bytes(gzip),
        ]);
      },
    };
  });
});

test('a poisoned record of an NFT has no picture', async () => {
  await using upstream = await startScriptedUpstream(hasFirst);
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-poison-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'cache.db');
  const serviceWith = serviceOver(upstream.url, { kind: 'sqlite', file, sizeBytes: 64_000_000 });
  const [token] = one.addresses;
  const first = await serviceWith(MEMORY);
  await fetch(`${first.url}/explorer/tokens/${token}/instances/0`);
  await first.close();
  await using service = await serviceWith(NO_MEMORY);
  const db = openDatabase({ file });
  onTestFinished(() => db.destroy());

  const changed = await execute(
    db,
    `update entries set identity = ?, br = null, gzip = null, facts = json_set(facts, '$.etag', ?)`,
    [Buffer.from('no JSON'), entityTag('no JSON')],
  );
  const { status } = await fetch(`${service.url}/chain/1/token/${token}/instance/0/picture`);

  expect(changed).toBe(1);
  expect(status).toBe(404);
});

/** Stores an answer, changes it in every way, and reads it through a service without memory. */
async function expectHarmless(store: CacheStoreOptions, open: () => Promise<Shelf>): Promise<void> {
  await using upstream = await startScriptedUpstream(hasFirst);
  const serviceWith = serviceOver(upstream.url, store);
  const first = await serviceWith(MEMORY);
  const right = await answer(first.url, 'br');
  await first.close();
  await using service = await serviceWith(NO_MEMORY);
  const shelf = await open();
  const stored = await shelf.read();
  const seen = new Set<string>();
  expect((await answer(service.url, 'br')).headers['x-cache']).toBe('HIT');

  await fc.assert(
    fc.asyncProperty(poison(stored), fc.constantFrom(...CODINGS), async (entry, coding) => {
      await shelf.write(entry);
      const { status, headers, body } = await answer(service.url, coding);
      seen.add(String(headers['x-cache']));

      expect(status).toBe(200);
      expect(headers['x-injected']).toBeUndefined();
      expect(headers['x-chain-id']).toMatch(/^\d+(, \d+)*$|^$/);
      expect(headers['x-backend']).toMatch(/^[\w.-]+(, [\w.-]+)*$|^$/);
      expect(headers['cache-control']).toMatch(/^[a-z-]+(=\d+)?(, [a-z-]+(=\d+)?)*$/);
      expect(headers.age).toMatch(/^\d+$/);
      expect(headers.etag?.replace(/-(br|gz)"$/, '"')).toBe(entityTag(body));
    }),
    { numRuns: RUNS },
  );
  await shelf.write(stored);
  const afterwards = await answer(service.url, 'gzip');

  expect([...seen]).toContain('BYPASS');
  expect(['BYPASS', 'HIT', 'STALE']).toEqual(expect.arrayContaining([...seen]));
  expect(afterwards.headers['x-cache']).toBe('HIT');
  expect(afterwards.body).toEqual(right.body);
}

/** Starts services with a certain memory over one upstream and one store. */
function serviceOver(url: string, store: CacheStoreOptions) {
  return (maxBytes: number) =>
    startTestDataService([], {
      chains: [blockscoutChain(1, url, KEY)],
      cache: { maxBytes, lifetimes: LIFETIMES, store, timeoutMs: PATIENCE_MS },
    });
}

/** Answer with its decoded body. */
async function answer(url: string, coding: (typeof CODINGS)[number]) {
  const request = get(url + PATH, { headers: { 'accept-encoding': coding } });
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (response === undefined) throw new Error('no response');
  const { statusCode: status, headers } = response;
  const sent = await buffer(response);
  const encoding = headers['content-encoding'];
  const body = encoding === 'br' ? brotliDecompressSync(sent) : encoding === 'gzip' ? gunzipSync(sent) : sent;
  return { status, headers, body };
}

const FIELDS = [
  'key',
  'chainIds',
  'backends',
  'watched',
  'storedAt',
  'freshUntil',
  'revalidateUntil',
  'keepUntil',
  'final',
  'revision',
  'epoch',
  'representation',
  'representation.etag',
  'representation.identity',
  'representation.br',
  'representation.gzip',
];

const OTHER_BODY = Buffer.from('{"items":[],"next_page_params":null}');
const BOMB = Buffer.alloc(2 ** 24, ' ');

const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  '',
  'text',
  '1\r\nX-Injected: yes',
  0,
  -1,
  1.5,
  1e308,
  LONG_AGO,
  FAR_AHEAD,
  true,
  [],
  {},
  [1],
  [null],
  [{}],
  [-1],
  [1.5],
  [1e308],
  ['first'],
  ['1\r\nX-Injected: yes'],
  ['\u0000'],
  ['ü'],
  [''],
  [['1']],
  ['x'.repeat(100_000)],
  ':base64:',
  ':base64:AAAA',
  text(brotliCompressSync(OTHER_BODY)),
  text(gzipSync(OTHER_BODY)),
  text(brotliCompressSync(BOMB)),
  text(gzipSync(BOMB)),
];

/**
 * A fresh or stale entry with up to three changed fields, a body with the tag of another one, or something else instead.
 */
function poison(stored: StoredValue): fc.Arbitrary<unknown> {
  const stale = { ...stored, freshUntil: LONG_AGO, revalidateUntil: FAR_AHEAD };
  const change = fc.record({ path: fc.constantFrom(...FIELDS), value: fc.constantFrom(...HOSTILE) });
  const changed = fc
    .tuple(fc.constantFrom(stored, stale), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([base, changes]) =>
      changes.reduce((entry, { path, value }) => withValue(entry, path, value), base),
    );
  const retagged = fc.constantFrom('identity', 'br').map(form => {
    const representation = {
      etag: entityTag(OTHER_BODY),
      identity: text(OTHER_BODY),
      ...(form === 'br' ? { br: text(brotliCompressSync('{"a third":"body"}')) } : {}),
    };
    return { ...stored, representation };
  });
  return fc.oneof(
    { weight: 20, arbitrary: changed },
    { weight: 2, arbitrary: retagged },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
}

function withValue(tree: StoredValue, path: string, value: unknown): StoredValue {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...tree, [name]: value };
  const inner = tree[name];
  return { ...tree, [name]: withValue(isTree(inner) ? inner : {}, rest.join('.'), value) };
}

function isTree(value: unknown): value is StoredValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(content: Buffer | string): string {
  return `:base64:${Buffer.from(content).toString('base64')}`;
}

function bytes(value: unknown): Buffer | null {
  return typeof value === 'string' ? Buffer.from(value.replace(/^:base64:/, ''), 'base64') : null;
}
