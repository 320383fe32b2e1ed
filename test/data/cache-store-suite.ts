import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Entry } from '../../src/data/cache/entry.ts';
import type { ResponseCache } from '../../src/data/cache/response-cache.ts';
import { uncompressed } from '../../src/http/representation.ts';
import { manualClock } from '../support/manual-clock.ts';
import { storedEntry } from './cache-support.ts';

/** A store of cached answers under test. */
export interface CacheStore {
  /** A cache over the store, with its own memory where the store is another process. */
  cache(options?: { version?: string; maxBytes?: number }): ResponseCache;
}

/** Clock of the caches. */
export const clock = manualClock(Date.now());

const entry = (bytes = 100) => storedEntry(clock, Buffer.alloc(bytes, 'x'));

/** Guarantees of every store of cached answers; `open` runs once per test. */
export function cacheStoreSuite(name: string, open: () => Promise<CacheStore>): void {
  describe(`cached answers in ${name}`, () => {
    test('come back byte for byte, with all encodings and metadata', async () => {
      const store = await open();
      const kept = {
        ...entry(),
        revision: ':base64:"r"',
        epoch: '3',
        watched: ['first', 'second'],
        representation: {
          ...uncompressed('{"ü":1}'),
          br: brotliCompressSync('{"ü":1}'),
          gzip: gzipSync('{"ü":1}'),
        },
      };

      const found = await throughStore(store, kept);

      expect(found).toEqual(kept);
    });

    test('come back without encodings that were never requested', async () => {
      const kept = entry();

      const found = await throughStore(await open(), kept);

      expect(found).toEqual(kept);
    });

    test('are deleted after their retention', async () => {
      const store = await open();
      await throughStore(store, entry());

      const held = await store.cache().get('key');
      clock.advance(60_000);
      const gone = await store.cache().get('key');

      expect(held).toBeDefined();
      expect(gone).toBeUndefined();
    });

    test('are replaced by a newer answer', async () => {
      const store = await open();
      await throughStore(store, entry(100));
      clock.advance(1);

      const found = await throughStore(store, entry(200));

      expect(found?.representation.identity).toHaveLength(200);
    });

    test('are not kept when they are too large', async () => {
      const cache = (await open()).cache();

      const isKept = cache.set('key', entry(30_000));
      await cache.flush();

      expect([isKept, await cache.get('key')]).toEqual([false, undefined]);
    });
  });
}

/** Further guarantees of every store that outlives its process. */
export function sharedStoreSuite(name: string, open: () => Promise<CacheStore>): void {
  describe(`answers that processes share in ${name}`, () => {
    test('are a miss for another version of the contract', async () => {
      const store = await open();
      await throughStore(store, entry());

      const found = await store.cache({ version: '2' }).get('key');

      expect(found).toBeUndefined();
    });

    test('replace an outdated answer in another process’s memory', async () => {
      const store = await open();
      const [one, other] = [store.cache(), store.cache()];
      await other.set('key', { ...entry(), revision: 'before' });
      await other.flush();
      clock.advance(1);
      await one.set('key', { ...entry(), revision: 'after' });
      await one.flush();

      const held = other.held('key');
      const found = await other.get('key');

      expect([held?.revision, found?.revision]).toEqual(['before', 'after']);
      expect(other.held('key')).toEqual(found);
    });

    test('do not replace a newer answer made while they were being read', async () => {
      const store = await open();
      await throughStore(store, { ...entry(), revision: 'before' });
      const cache = store.cache();
      clock.advance(1);

      const reading = cache.get('key');
      cache.set('key', { ...entry(), revision: 'after' });
      const found = await reading;

      expect([found?.revision, cache.held('key')?.revision]).toEqual(['after', 'after']);
    });

    test('from a process with more memory are returned, and not held in memory beyond the size bound', async () => {
      const store = await open();
      const larger = store.cache();
      await larger.set('key', entry(10_000));
      await larger.flush();
      const smaller = store.cache({ maxBytes: 20_000 });

      const found = await smaller.get('key');

      expect(found).toEqual(entry(10_000));
      expect(smaller.held('key')).toBeUndefined();
    });

    test('of a process whose clock is ahead are used only when they are due, so they are not fresh too long', async () => {
      const store = await open();
      const aheadMs = 10_000;
      const { storedAt, freshUntil, ...rest } = entry();
      const early = { ...rest, storedAt: storedAt + aheadMs, freshUntil: freshUntil + aheadMs };

      const before = await throughStore(store, early);
      clock.advance(aheadMs);
      const due = await store.cache().get('key');

      expect([before, due]).toEqual([undefined, early]);
    });

    test('hold no memory beyond their bytes', async () => {
      const { identity } = entry().representation;
      const [br, gzip] = [brotliCompressSync(identity), gzipSync(identity)];
      const kept = { ...entry(), representation: { ...uncompressed(identity), br, gzip } };

      const found = (await throughStore(await open(), kept))?.representation;

      const forms = [found?.identity, found?.br, found?.gzip];
      expect(forms.map(bytes => bytes?.buffer.byteLength)).toEqual([100, br.length, gzip.length]);
    });

    test('are read once for concurrent readers', async () => {
      const store = await open();
      await throughStore(store, entry());
      const cache = store.cache();

      const found = await Promise.all([cache.get('key'), cache.get('key')]);

      expect(found[0]).toBe(found[1]);
    });
  });
}

async function throughStore(store: CacheStore, kept: Entry) {
  const cache = store.cache();
  cache.set('key', kept);
  await cache.flush();
  return store.cache().get('key');
}
