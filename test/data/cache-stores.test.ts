import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CACHE_MIGRATIONS } from '../../src/data/cache/001-entries.ts';
import { responseCache } from '../../src/data/cache/response-cache.ts';
import { sqliteStore } from '../../src/data/cache/sqlite-store.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { manualClock } from '../support/manual-clock.ts';
import { final, setUp } from './cache-support.ts';

describe('stores', () => {
  const clock = manualClock(Date.now());
  const log = createLogger({ level: 'silent' });
  const folders: string[] = [];

  afterEach(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  async function durable(file: string, version = '1') {
    const db = openDatabase({ file });
    await migrate(db, CACHE_MIGRATIONS);
    return { store: sqliteStore(db, { clock, version }), close: () => db.destroy() };
  }

  async function temporaryFile(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'cache-test-'));
    folders.push(folder);
    return join(folder, 'cache.db');
  }

  const entry = (bytes = 100) => ({
    representation: { etag: '"e"', identity: Buffer.alloc(bytes, 'x') },
    chainIds: [1],
    backends: ['first'],
    storedAt: clock.now(),
    freshUntil: clock.now() + 1_000,
    keepUntil: clock.now() + 60_000,
    final: true,
  });

  test('the second layer gives nothing back that another version stored', async () => {
    const file = await temporaryFile();
    const before = await durable(file, '1');
    await responseCache({ maxBytes: 20_000, durable: before.store, clock, log }).set('key', entry());
    await before.close();

    const after = await durable(file, '2');
    const kept = await responseCache({ maxBytes: 20_000, durable: after.store, clock, log }).get('key');
    await after.close();

    expect(kept).toBeUndefined();
  });

  test('the second layer gives an answer back after a restart, byte for byte', async () => {
    const file = await temporaryFile();
    const before = await durable(file);
    const kept = {
      ...entry(),
      epoch: '3',
      representation: {
        etag: '"tag"',
        identity: Buffer.from('{"ü":1}'),
        br: Buffer.from([0, 255, 1]),
        gzip: Buffer.from([31, 139]),
      },
    };
    await responseCache({ maxBytes: 20_000, durable: before.store, clock, log }).set('key', kept);
    await before.close();

    const after = await durable(file);
    const again = responseCache({ maxBytes: 20_000, durable: after.store, clock, log });
    const found = await again.get('key');
    await after.close();
    const near = await again.get('key');

    expect(found).toEqual(kept);
    expect(near).toEqual(kept);
  });

  test('the second layer forgets what is past its retention', async () => {
    const { store, close } = await durable(await temporaryFile());
    const cache = () => responseCache({ maxBytes: 20_000, durable: store, clock, log });

    await cache().set('key', entry());
    const held = await cache().get('key');
    clock.advance(60_000);
    const gone = await cache().get('key');
    await close();

    expect(held).toBeDefined();
    expect(gone).toBeUndefined();
  });

  test('a broken store is a miss, and the answer is still kept in memory', async () => {
    const { store, close } = await durable(await temporaryFile());
    await close();
    const cache = responseCache({ maxBytes: 20_000, durable: store, clock, log });
    const { record, state } = setUp({ answer: final, cache, clock });

    const answers = [await record(), await record()];

    expect(answers.map(one => one['X-Cache'])).toEqual(['MISS', 'HIT']);
    expect(state.loads).toBe(1);
  });

  test('memory is bounded in bytes, and what was used last stays', async () => {
    const cache = responseCache({ maxBytes: 20_000, clock, log });

    for (let at = 0; at < 100; at += 1) {
      await cache.set(`key ${at}`, entry(1_000));
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
