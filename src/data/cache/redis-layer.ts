import KeyvRedis from '@keyv/redis';
import { Keyv } from 'keyv';
import type { RedisClient } from '../../stores/redis-connection.ts';
import type { StoredEntry } from './second-layer.ts';

/** Enough of a version to tell it from every other. */
const VERSION_CHARACTERS = 16;

/**
 * A Keyv in a Redis, for a second layer that several processes share. What was stored under another `version` is not found.
 * Keyv's own serialisation keeps the bytes of buffers.
 */
export function redisKeyv(client: RedisClient, { version }: { version: string }): Keyv<StoredEntry> {
  const store = new OpenedRedis(client, { throwOnErrors: true });
  const namespace = `tollgate:${version.slice(0, VERSION_CHARACTERS)}`;
  const keyv = new Keyv<StoredEntry>({ store, namespace, useKeyPrefix: false, throwOnErrors: true });
  keyv.on('error', () => undefined); // a command that fails throws as well, and the connection has its own listener
  return keyv;
}

/** An adapter that leaves the connection to its owner. Its base would connect a client again that was closed. */
class OpenedRedis extends KeyvRedis<StoredEntry> {
  override async getClient() {
    return this.client;
  }
}
