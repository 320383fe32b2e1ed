import { Keyv, type KeyvStoreAdapter } from 'keyv';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { type Entry, entrySize } from './entry.ts';
import { memoryStore } from './memory-store.ts';

/** Kept answers, in memory and, where one is configured, in a second layer that outlives the process. */
export interface ResponseCache {
  get(key: string): Promise<Entry | undefined>;
  /** The entry that memory holds, without a look at the second layer. */
  held(key: string): Entry | undefined;
  /** Answers whether the entry was kept: one above the size bound is not. */
  set(key: string, entry: Entry): Promise<boolean>;
  /**
   * Keeps an entry with another form of its body instead of the one without, if that is still kept. In memory only: where
   * it is missing after a restart it is made again.
   */
  gain(key: string, entries: { before: Entry; after: Entry }): void;
}

export interface ResponseCacheOptions {
  readonly maxBytes: number;
  readonly durable?: KeyvStoreAdapter | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** No single answer may push out more than this part of the others. */
const LARGEST_SHARE = 8;

/** A cache over Keyv stores. A store that fails is a miss and a line in the log, never an error. */
export function responseCache({ maxBytes, durable, clock, log }: ResponseCacheOptions): ResponseCache {
  const memory = memoryStore<Entry>({ maxBytes, sizeOf: entrySize });
  const near = layer(memory);
  const isTooLarge = (key: string, entry: Entry) => entrySize(key, entry) > maxBytes / LARGEST_SHARE;
  const far = durable === undefined ? undefined : layer(durable);

  const read = async (from: Keyv<Entry>, key: string) => {
    try {
      return await from.get(key);
    } catch (error) {
      log.warn({ err: error }, 'reading the response cache failed, which counts as a miss');
      return undefined;
    }
  };
  const write = async (to: Keyv<Entry>, key: string, entry: Entry) => {
    try {
      await to.set(key, entry, Math.max(1, entry.keepUntil - clock.now()));
    } catch (error) {
      log.warn({ err: error }, 'writing the response cache failed');
    }
  };

  return {
    held: memory.held,
    async get(key) {
      const entry = await read(near, key);
      if (entry !== undefined || far === undefined) return entry;
      const kept = await read(far, key);
      if (kept !== undefined) await write(near, key, kept);
      return kept;
    },
    async set(key, entry) {
      if (isTooLarge(key, entry)) return false;
      await write(near, key, entry);
      if (far !== undefined) await write(far, key, entry);
      return true;
    },
    gain(key, entries) {
      if (!isTooLarge(key, entries.after)) memory.exchange(key, entries);
    },
  };
}

/** Values stay as they are: what they look like at rest is the store's business. */
function layer(store: KeyvStoreAdapter): Keyv<Entry> {
  const keyv = new Keyv<Entry>({ store, useKeyPrefix: false, throwOnErrors: true, emitErrors: false });
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  return keyv;
}
