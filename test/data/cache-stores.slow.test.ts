import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BackendError } from '../../src/data/backends/port/backend-error.ts';
import { CACHE_MIGRATIONS } from '../../src/data/cache/001-entries.ts';
import { openSecondLayer } from '../../src/data/cache/open-second-layer.ts';
import { redisKeyv } from '../../src/data/cache/redis-layer.ts';
import { responseCache } from '../../src/data/cache/response-cache.ts';
import { plainKeyv, type SecondLayer } from '../../src/data/cache/second-layer.ts';
import { sqliteStore, storeParts } from '../../src/data/cache/sqlite-store.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createLogger, silentLogger } from '../../src/lib/logger.ts';
import { openRedis } from '../../src/stores/redis-connection.ts';
import { type OwnRedis, startOwnRedis } from '../lab/redis.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { startFaultyFront } from '../support/faulty-front.ts';
import { countedFailures } from '../support/store-failures.ts';
import { type CacheStore, cacheStoreSuite, clock, sharedStoreSuite } from './cache-store-suite.ts';
import { final, setUp, storedEntry } from './cache-support.ts';

const outage = async () => {
  throw new BackendError('unavailable', 'failed', 'out');
};
/** Longest wait for a Redis that answers. */
const MAX_BYTES = 200_000;
const parts = storeParts(64_000_000);
let redis: OwnRedis;

beforeAll(async () => {
  redis = await startOwnRedis();
});

afterAll(() => redis[Symbol.asyncDispose]());

async function memory(): Promise<CacheStore> {
  const cache = responseCache({ maxBytes: MAX_BYTES, clock });
  return { cache: () => cache };
}

async function sqlite(): Promise<CacheStore> {
  const folder = await mkdtemp(join(tmpdir(), 'cache-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const db = openDatabase({ file: join(folder, 'cache.db') });
  onTestFinished(() => db.destroy());
  await migrate(db, CACHE_MIGRATIONS);
  return {
    cache({ version = '1', maxBytes = MAX_BYTES } = {}) {
      const keyv = plainKeyv(sqliteStore(db, { clock, version, parts }));
      return responseCache({ maxBytes, second: { keyv, failures: countedFailures() }, clock });
    },
  };
}

async function inRedis() {
  const failures = countedFailures();
  const { client, close } = await openRedis({ url: redis.url, title: 'Redis', setting: 'store', failures });
  onTestFinished(close);
  await client.flushDb();
  return {
    client,
    failures,
    cache({ version = '1', maxBytes = MAX_BYTES } = {}) {
      const keyv = redisKeyv(client, { version });
      return responseCache({ maxBytes, second: { keyv, failures }, clock });
    },
  };
}

cacheStoreSuite('memory', memory);
cacheStoreSuite('SQLite', sqlite);
cacheStoreSuite('Redis', inRedis);
sharedStoreSuite('SQLite', sqlite);
sharedStoreSuite('Redis', inRedis);

describe('the cache', () => {
  const entry = (bytes = 100) => storedEntry(clock, Buffer.alloc(bytes, 'x'));

  test('treats a broken store as a miss, and still keeps answers in memory', async () => {
    const db = openDatabase({ file: ':memory:' });
    await db.destroy();
    const failures = countedFailures();
    const keyv = plainKeyv(sqliteStore(db, { clock, version: '1', parts }));
    const cache = responseCache({ maxBytes: MAX_BYTES, second: { keyv, failures }, clock });
    const { record, state } = setUp({ answer: final, cache, clock });

    const answers = [await record(), await record()];
    await cache.flush();

    expect(answers.map(one => one['X-Cache'])).toEqual(['MISS', 'HIT']);
    expect(state.loads).toBe(1);
    expect(failures.reported).toHaveLength(2);
  });

  test.each([
    ['no JSON', () => 'PONG'],
    ['another value', () => '{"value":{"keepUntil":9e15}}'],
    ['an entry without a field', (kept: string) => kept.replace('"final":', '"other":')],
    ['the entry of another key', (kept: string) => kept.replace('"key":"key"', '"key":"other"')],
    [
      'a body that does not match its tag',
      (kept: string) => kept.replace(/"identity":":base64:..../, '$&AAAA'),
    ],
  ])('treats %s under a key in Redis as a miss', async (_, changed) => {
    const store = await inRedis();
    const cache = store.cache();
    cache.set('key', entry());
    await cache.flush();
    const [key = ''] = await store.client.keys('*');

    const before = await store.cache().get('key');
    await store.client.set(key, changed((await store.client.get(key)) ?? ''));
    const after = await store.cache().get('key');

    expect(before).toEqual(entry());
    expect(after).toBeUndefined();
    expect(store.failures.reported).toHaveLength(1);
  });

  test('shares answers of one index, and never serves those of another index, even during an outage', async () => {
    const store = await inRedis();
    const process = (dataId: string, answer: typeof final) => {
      const cache = store.cache();
      const validity = () => ({ revision: 'r', epoch: `${dataId}-0` });
      return { cache, ...setUp({ answer, dataId, validity, cache, clock }) };
    };
    const first = process('one', final);
    await first.record();
    await first.cache.flush();

    const same = await process('one', outage).record();
    const other = process('two', outage).record();

    expect(same['X-Cache']).toBe('HIT');
    await expect(other).rejects.toMatchObject({ status: 502 });
  });

  test('reads Redis once per second for a stale answer that cannot be reloaded', async () => {
    const store = await inRedis();
    const reads = async () => /cmdstat_get:calls=(\d+)/.exec(await store.client.info('commandstats'))?.[1];
    const cache = store.cache();
    const { record, state } = setUp({ answer: final, cache, clock });
    await record();
    await cache.flush();
    clock.advance(86_400_000);
    state.answer = outage;
    await store.client.sendCommand(['CONFIG', 'RESETSTAT']);

    const stale = [await record(), await record(), await record()];
    const readsAtOnce = await reads();
    const elsewhere = store.cache();
    await setUp({ answer: final, cache: elsewhere, clock }).record();
    await elsewhere.flush();
    clock.advance(1_000);
    await store.client.sendCommand(['CONFIG', 'RESETSTAT']);
    const renewed = await record();

    expect(stale.map(one => one['X-Cache'])).toEqual(['STALE', 'STALE', 'STALE']);
    expect(readsAtOnce).toBe('1');
    expect(renewed['X-Cache']).toBe('HIT');
    expect(await reads()).toBe('1');
  });

  test('answers while Redis hangs, logs that once, and shares answers again after Redis recovers', async () => {
    const own = await startOwnRedis();
    onTestFinished(() => own[Symbol.asyncDispose]());
    const lines: string[] = [];
    const log = createLogger({ level: 'warn', destination: { write: line => void lines.push(line) } });
    const options = { version: '1', metrics: createMetrics(), clock, log };
    const second = await openSecondLayer({ kind: 'redis', url: own.url }, options);
    onTestFinished(second.close);
    const cache = responseCache({ maxBytes: MAX_BYTES, second, clock });
    const { record, state } = setUp({ answer: final, cache, clock });

    own.hang();
    const answers = [await record(), await record()];
    await cache.flush();
    const warnings = lines.splice(0);
    own.goOn();

    expect(answers.map(one => one['X-Cache'])).toEqual(['MISS', 'HIT']);
    expect(state.loads).toBe(1);
    expect(warnings.map(line => JSON.parse(line).msg)).toEqual([
      'the store of the response cache fails, which counts as a miss',
    ]);
    await expect
      .poll(async () => {
        cache.set('key', entry());
        await cache.flush();
        return responseCache({ maxBytes: MAX_BYTES, second, clock }).get('key');
      })
      .toEqual(entry());
  });

  test('does not write an answer to Redis that is large enough to delay others', async () => {
    const store = await inRedis();
    const observers = { metrics: createMetrics(), clock, log: silentLogger(), timeoutMs: PATIENCE_MS };
    const second = await openSecondLayer({ kind: 'redis', url: redis.url }, { version: '1', ...observers });
    onTestFinished(second.close);
    const cache = responseCache({ maxBytes: 2 ** 24, second, clock });

    const areHeld = [2 ** 20, 2 ** 18].map(bytes => cache.set(`of ${bytes}`, entry(bytes)));
    await cache.flush();

    expect(areHeld).toEqual([true, true]);
    expect(await store.client.keys('*of *')).toEqual([expect.stringContaining('of 262144')]);
  });

  test('serves answers from the store although a write takes too long', async () => {
    const db = openDatabase({ file: ':memory:' });
    onTestFinished(() => db.destroy());
    await migrate(db, CACHE_MIGRATIONS);
    const store = sqliteStore(db, { clock, version: '1', parts });
    const failures = countedFailures();
    const cacheOver = (given: typeof store) => {
      const second: SecondLayer = { keyv: plainKeyv(given), failures, timeoutMs: 100 };
      return responseCache({ maxBytes: MAX_BYTES, second, clock });
    };
    const other = cacheOver(store);
    other.set('key', entry());
    await other.flush();
    const cache = cacheOver({ ...store, set: () => new Promise(() => undefined) });

    cache.set('slow', entry());
    await cache.flush();
    const found = await cache.get('key');

    expect(found).toEqual(entry());
    expect(failures.reported).toMatchObject([{ name: 'Late' }]);
  });

  test('neither reads nor writes after it has closed Redis, and opens no connection', async () => {
    const store = await inRedis();
    const connections = async () =>
      /total_connections_received:\d+/.exec(await store.client.info('stats'))?.[0];
    const options = { version: '1', metrics: createMetrics(), clock, log: silentLogger() };
    const second = await openSecondLayer({ kind: 'redis', url: redis.url }, options);
    const kept = store.cache();
    kept.set('key', entry());
    await kept.flush();

    await second.close();
    const before = await connections();
    const late = responseCache({ maxBytes: MAX_BYTES, second, clock });
    const found = await late.get('key');
    late.set('other', entry());
    await late.flush();

    expect(found).toBeUndefined();
    expect(await store.client.keys('*other')).toEqual([]);
    expect(await connections()).toBe(before);
  });

  test('never serves the answer to another request when Redis sends one reply too many', async () => {
    const front = await startFaultyFront(redis.port);
    const url = `redis://127.0.0.1:${front.port}`;
    const observers = { metrics: createMetrics(), clock, log: silentLogger(), timeoutMs: PATIENCE_MS };
    const second = await openSecondLayer({ kind: 'redis', url }, { version: '2', ...observers });
    onTestFinished(second.close);
    const cacheOf = () => responseCache({ maxBytes: MAX_BYTES, second, clock });
    const keys = ['a', 'b', 'c', 'd'];
    const entryOf = (key: string) => storedEntry(clock, Buffer.from(`answer to ${key}`));
    const read = async () => {
      const found = await Promise.all(keys.map(key => cacheOf().get(key)));
      return found.map(one => one?.representation.identity.toString());
    };
    const right = keys.map(key => `answer to ${key}`);
    const first = cacheOf();
    await Promise.all(keys.map(key => first.set(key, entryOf(key))));
    await first.flush();

    front.spoil(Buffer.from('$-1\r\n'), { isInstead: false });
    const seen = [await read(), await read(), await read()];
    await expect.poll(read).toEqual(right);

    for (const answers of seen)
      for (const [at, answer] of answers.entries()) expect([undefined, right[at]]).toContain(answer);
    expect(seen[0]).not.toEqual(right);
  });

  test('is bounded in bytes and evicts the least recently used entry', async () => {
    const cache = responseCache({ maxBytes: 20_000, clock });

    for (let at = 0; at < 100; at += 1) {
      cache.set(`key ${at}`, entry(1_000));
      await cache.get('key 0');
    }
    const held = await Promise.all(Array.from({ length: 100 }, (_, at) => cache.get(`key ${at}`)));
    const numbers = held.flatMap((one, at) => (one === undefined ? [] : [at]));

    expect(numbers.length * 1_000).toBeLessThanOrEqual(20_000);
    expect(numbers.length).toBeGreaterThan(5);
    expect(numbers).toContain(0);
    expect(numbers).toContain(99);
    expect(numbers).not.toContain(1);
  });
});
