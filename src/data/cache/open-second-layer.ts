import { realpathSync } from 'node:fs';
import { openMigrated } from '../../db/migrate.ts';
import { fileOf } from '../../db/open.ts';
import type { DiskSpace } from '../../stores/disk-space.ts';
import { type StoreFailuresOptions, storeFailures } from '../../stores/store-failures.ts';
import { CACHE_SCHEMA, CACHE_SETTING } from './001-entries.ts';
import { plainKeyv, type SecondLayer } from './second-layer.ts';
import { limitDatabase, sqliteStore, storeParts } from './sqlite-store.ts';

/** Location of the second layer. `file` is absolute, and `sizeBytes` the size on disk that it stays below. */
export type CacheStoreOptions =
  | { readonly kind: 'sqlite'; readonly file: string; readonly sizeBytes: number }
  | { readonly kind: 'redis'; readonly url: string };

export interface OpenSecondLayer extends SecondLayer {
  close(): Promise<void>;
}

interface SecondLayerOptions extends Pick<StoreFailuresOptions, 'metrics' | 'clock' | 'log'> {
  /** Entries of other versions are not found. */
  readonly version: string;
  /** Longest wait of a request for a Redis, in milliseconds; 50 when absent. */
  readonly timeoutMs?: number | undefined;
  readonly disk?: Pick<DiskSpace, 'writer'>;
}

const TIMEOUT_MS = 50;

/** A larger entry takes long to write and to read, and delays all others on the connection. */
const MAX_ENTRY_BYTES = 512 * 1024;

/**
 * Opens the second layer.
 * @throws CannotStart when the file cannot be used, or no Redis accepts a connection at the URL
 */
export async function openSecondLayer(
  store: CacheStoreOptions,
  { version, timeoutMs = TIMEOUT_MS, disk, ...observers }: SecondLayerOptions,
): Promise<OpenSecondLayer> {
  const meanwhile = 'the store of the response cache fails, which counts as a miss';
  const failures = storeFailures({ ...observers, store: 'cache', meanwhile });
  if (store.kind === 'redis') {
    const { openRedis } = await import('../../stores/redis-connection.ts');
    const { redisKeyv } = await import('./redis-layer.ts');
    const { client, renew, close } = await openRedis({
      url: store.url,
      title: 'Redis of the response cache',
      setting: CACHE_SETTING,
      failures,
    });
    const keyv = redisKeyv(client, { version });
    return { keyv, failures, timeoutMs, maxEntryBytes: MAX_ENTRY_BYTES, renew, close: async () => close() };
  }
  const { file, sizeBytes } = store;
  const db = await openMigrated({ file, durability: 'normal' }, CACHE_SCHEMA);
  const parts = storeParts(sizeBytes);
  const path = fileOf({ file }) && realpathSync(file);
  await limitDatabase(db, parts);
  const keyv = plainKeyv(sqliteStore(db, { clock: observers.clock, version, parts, file: path }));
  return {
    keyv,
    failures,
    maxEntryBytes: parts.largestEntryBytes,
    hasRoom: disk?.writer('cache', path),
    close: () => db.destroy(),
  };
}
