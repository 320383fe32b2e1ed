import { openMigrated } from '../../db/migrate.ts';
import { type StoreFailuresOptions, storeFailures } from '../../stores/store-failures.ts';
import { CACHE_SCHEMA, CACHE_SETTING } from './001-entries.ts';
import { plainKeyv, type SecondLayer } from './second-layer.ts';
import { sqliteStore } from './sqlite-store.ts';

/** Where the second layer lies. `file` is absolute. */
export type CacheStoreOptions =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'redis'; readonly url: string };

export interface OpenSecondLayer extends SecondLayer {
  close(): Promise<void>;
}

interface SecondLayerOptions extends Pick<StoreFailuresOptions, 'metrics' | 'clock' | 'log'> {
  /** Entries of another version are not found. */
  readonly version: string;
  /** Longest time that a request waits for a Redis, in milliseconds; 50 when absent. */
  readonly patienceMs?: number | undefined;
}

const PATIENCE_MS = 50;

/** A larger entry takes long to write and to read, and holds up every other one on the connection. */
const MAX_ENTRY_BYTES = 512 * 1024;

/**
 * Opens the second layer.
 * @throws CannotStart when the file cannot be used, or the address belongs to no Redis that takes the connection
 */
export async function openSecondLayer(
  store: CacheStoreOptions,
  { version, patienceMs = PATIENCE_MS, ...observers }: SecondLayerOptions,
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
    return { keyv, failures, patienceMs, maxEntryBytes: MAX_ENTRY_BYTES, renew, close: async () => close() };
  }
  const db = await openMigrated({ file: store.file, durability: 'normal' }, CACHE_SCHEMA);
  const keyv = plainKeyv(sqliteStore(db, { clock: observers.clock, version }));
  return { keyv, failures, close: () => db.destroy() };
}
