import { randomBytes, randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSecondLayer } from '../../src/data/cache/open-second-layer.ts';
import { responseCache } from '../../src/data/cache/response-cache.ts';
import { openDatabase } from '../../src/db/open.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { manualClock } from '../support/manual-clock.ts';
import { storedEntry } from './cache-support.ts';

const SIZE_BYTES = 40_000_000;
const LARGEST_BYTES = SIZE_BYTES / 32 - 10_000;
/** Memory of a cache, enough for its largest entry. */
const MEMORY_BYTES = 2 ** 24;

/** A file of the cache, and processes that use it. */
async function cacheFile() {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cache-size-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'cache.db');
  const clock = manualClock(Date.now());
  const metrics = createMetrics();

  return {
    file,
    /** Size on disk of the file with everything that SQLite keeps next to it. */
    bytes: () =>
      ['', '-wal', '-shm'].reduce(
        (sum, suffix) => sum + (statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
    failures: async () =>
      Number(/failures_total\{store="cache"\} (\d+)/.exec(await metrics.registry.metrics())?.[1]),
    async open(sizeBytes = SIZE_BYTES) {
      const observers = { metrics, clock, log: silentLogger() };
      const second = await openSecondLayer(
        { kind: 'sqlite', file, sizeBytes },
        { version: '1', ...observers },
      );
      const cache = responseCache({ maxBytes: MEMORY_BYTES, second, clock });
      return {
        /** Writes entries with bodies of this length, one after the other in time. */
        async write(bytes: number, ...keys: readonly string[]) {
          for (const key of keys) {
            clock.advance(1);
            cache.set(key, storedEntry(clock, randomBytes(bytes)));
          }
          await cache.flush();
        },
        /** Length of a stored body; undefined for a miss. */
        read: async (key: string) =>
          (await responseCache({ maxBytes: MEMORY_BYTES, second, clock }).get(key))?.representation.identity
            .length,
        close: second.close,
        [Symbol.asyncDispose]: second.close,
      };
    },
  };
}

describe('the SQLite file of the cache', () => {
  test('stays below its size, log included, and holds the newest answers', async () => {
    const store = await cacheFile();
    await using process = await store.open();
    const lengths = Array.from({ length: 150 }, () => randomInt(1, LARGEST_BYTES));
    const sizes: number[] = [];

    for (const [at, length] of lengths.entries()) {
      await process.write(length, `answer ${at}`);
      sizes.push(store.bytes());
    }
    const found = await Promise.all(lengths.map((_, at) => process.read(`answer ${at}`)));

    const kept = found.filter(length => length !== undefined);
    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(1.5 * SIZE_BYTES);
    expect(Math.max(...sizes)).toBeLessThan(SIZE_BYTES);
    expect(await store.failures()).toBe(0);
    expect(kept).toEqual(lengths.slice(-kept.length));
    expect(kept.reduce((sum, length) => sum + length)).toBeGreaterThan(SIZE_BYTES / 3);
  });

  test('gives a large answer the room of many small ones', async () => {
    const store = await cacheFile();
    await using process = await store.open();
    const small = Array.from({ length: 1_250 }, (_, at) => `small ${at}`);
    await process.write(20_000, ...small);

    await process.write(LARGEST_BYTES, 'large');
    const [large, oldest, newest] = [
      await process.read('large'),
      await process.read('small 0'),
      await process.read('small 1249'),
    ];

    expect([large, oldest, newest]).toEqual([LARGEST_BYTES, undefined, 20_000]);
    expect(store.bytes()).toBeLessThan(SIZE_BYTES);
    expect(await store.failures()).toBe(0);
  });

  test('stays below its size when several processes write', async () => {
    const store = await cacheFile();
    await using first = await store.open();
    await using second = await store.open();
    const sizes: number[] = [];

    for (let at = 0; at < 40; at += 1) {
      await Promise.all([
        first.write(LARGEST_BYTES, `of the first ${at}`),
        second.write(LARGEST_BYTES, `of the second ${at}`),
      ]);
      sizes.push(store.bytes());
    }
    const found = [await second.read('of the first 39'), await first.read('of the second 39')];

    expect(Math.max(...sizes)).toBeLessThan(SIZE_BYTES);
    expect(found).toEqual([LARGEST_BYTES, LARGEST_BYTES]);
  });

  test('takes no new answers while another process keeps the log from being emptied, and then goes on', async () => {
    const store = await cacheFile();
    await using process = await store.open();
    await process.write(1_000, 'first');
    const reader = openDatabase({ file: store.file, readonly: true });
    onTestFinished(() => reader.destroy());
    await reader.raw('begin');
    await reader.raw('select count(*) from entries');

    for (let at = 0; at < 30; at += 1) await process.write(LARGEST_BYTES, `during ${at}`);
    const [bytes, failures] = [store.bytes(), await store.failures()];
    const during = [
      await process.read('first'),
      await process.read('during 0'),
      await process.read('during 29'),
    ];
    await reader.raw('rollback');
    await process.write(LARGEST_BYTES, 'afterwards');

    expect(bytes).toBeLessThan(SIZE_BYTES);
    expect(failures).toBeGreaterThan(10);
    expect(during).toEqual([1_000, LARGEST_BYTES, undefined]);
    expect(await process.read('afterwards')).toBe(LARGEST_BYTES);
    expect(await store.failures()).toBe(failures);
  });

  test('that is larger than its size when it is opened is emptied', async () => {
    const store = await cacheFile();
    const before = await store.open(3 * SIZE_BYTES);
    for (let at = 0; at < 50; at += 1) await before.write(LARGEST_BYTES, `before ${at}`);
    await before.close();
    const oldBytes = store.bytes();

    await using process = await store.open();
    const newBytes = store.bytes();
    await process.write(LARGEST_BYTES, 'after');

    expect([oldBytes > SIZE_BYTES, newBytes < 1_000_000]).toEqual([true, true]);
    expect([await process.read('before 49'), await process.read('after')]).toEqual([
      undefined,
      LARGEST_BYTES,
    ]);
  });
});
