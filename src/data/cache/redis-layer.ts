import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import type { RedisClient } from '../../stores/redis-connection.ts';
import type { StoredEntry } from './intact-entry.ts';

/** Enough characters to tell versions apart. */
const VERSION_CHARACTERS = 16;

/**
 * Keyv over a Redis, for a second layer shared by several processes. Entries of another `version` are not found. Keyv's
 * own serialisation preserves buffers.
 */
export function redisKeyv(client: RedisClient, { version }: { version: string }): Keyv<StoredEntry> {
  const store = new OpenedRedis(client, { throwOnErrors: true });
  const namespace = `tollgate:${version.slice(0, VERSION_CHARACTERS)}`;
  const keyv = new Keyv<StoredEntry>({ store, namespace, useKeyPrefix: false, throwOnErrors: true });
  keyv.on('error', () => undefined); // a failing command throws as well, and the connection has its own listener
  return keyv;
}

/** Adapter that leaves the connection to its owner. The base class would reconnect a closed client. */
class OpenedRedis extends KeyvRedis<StoredEntry> {
  override async getClient() {
    return this.client;
  }
}
