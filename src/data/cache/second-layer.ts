import { Keyv, type KeyvStoreAdapter } from 'keyv';
import { entityTag } from '../../http/representation.ts';
import type { Clock } from '../../lib/clock.ts';
import { patience } from '../../stores/patience.ts';
import type { StoreFailures } from '../../stores/store-failures.ts';
import { type Entry, entrySize } from './entry.ts';

/** An entry with the key that it was stored under. */
export interface StoredEntry extends Entry {
  readonly key: string;
}

/** A store behind the cache in memory, which outlives the process and may be shared with others. */
export interface SecondLayer {
  readonly keyv: Keyv<StoredEntry>;
  readonly failures: StoreFailures;
  /** Longest time that a request waits for it, in milliseconds; until it answers when absent. */
  readonly patienceMs?: number | undefined;
  /** Size of the largest entry that is written, in bytes; unbounded when absent. */
  readonly maxEntryBytes?: number;
  /** Reopens the connection to the store after an answer to another request. */
  readonly renew?: (reason: unknown) => void;
}

/** A Keyv that leaves values as they are: what they look like at rest is the store's business. */
export function plainKeyv(store: KeyvStoreAdapter): Keyv<StoredEntry> {
  const keyv = new Keyv<StoredEntry>({ store, useKeyPrefix: false, throwOnErrors: true, emitErrors: false });
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  return keyv;
}

/** Reads and writes that never fail: a store that does, or is slow, has nothing and keeps nothing. */
export function guardedLayer(
  { keyv, failures, patienceMs, maxEntryBytes = Number.POSITIVE_INFINITY, renew }: SecondLayer,
  clock: Clock,
) {
  const reads = new Map<string, Promise<Entry | undefined>>();
  const writes = new Set<Promise<void>>();
  const reading = patience({ timeoutMs: patienceMs });
  const writing = patience({ timeoutMs: patienceMs }); // its own, so that a slow write stops no read

  return {
    /** Equal reads at a time are one. */
    read(key: string): Promise<Entry | undefined> {
      const running = reads.get(key);
      if (running !== undefined) return running;
      const started = readOnce(key).finally(() => reads.delete(key));
      reads.set(key, started);
      return started;
    },
    /** Writes behind the answer, which does not wait for it. */
    write(key: string, entry: Entry): void {
      if (entrySize(key, entry) > maxEntryBytes) return;
      const started = writeOnce(key, entry).finally(() => writes.delete(started));
      writes.add(started);
    },
    /** Resolves when nothing is left to write. */
    async flush(): Promise<void> {
      await Promise.all(writes);
    },
  };

  async function readOnce(key: string): Promise<Entry | undefined> {
    try {
      const entry = await reading(() => keyv.get(key));
      return entry === undefined ? undefined : intact(entry, key);
    } catch (error) {
      failures.report(error);
      if (error instanceof ForeignEntry) renew?.(error);
      return undefined;
    }
  }

  async function writeOnce(key: string, entry: Entry): Promise<void> {
    try {
      const ttlMs = Math.max(1, entry.keepUntil - clock.now());
      await writing(() => keyv.set(key, { ...entry, key }, ttlMs));
    } catch (error) {
      failures.report(error);
    }
  }
}

/** An entry of another key, as a connection gives it whose replies are out of step with its commands. */
class ForeignEntry extends Error {
  override readonly name = 'ForeignEntry';
}

/**
 * Returns the entry itself. A store may hold what another program has written.
 * @throws ForeignEntry when it is the entry of another key
 * @throws Error when fields are missing, or the body does not match its tag
 */
function intact({ key: storedKey, ...entry }: StoredEntry, key: string): Entry {
  if (!isComplete(entry) || typeof storedKey !== 'string')
    throw new Error('an entry of the store lacks fields');
  if (storedKey !== key) throw new ForeignEntry('the store gave the entry of another key');
  const { identity, etag } = entry.representation;
  if (entityTag(identity) !== etag) throw new Error('an entry of the store is damaged');
  return entry;
}

function isComplete({ representation, chainIds, backends, final, ...times }: Entry): boolean {
  const { storedAt, freshUntil, keepUntil } = times;
  return (
    Buffer.isBuffer(representation?.identity) &&
    [chainIds, backends].every(Array.isArray) &&
    [storedAt, freshUntil, keepUntil].every(Number.isFinite) &&
    typeof final === 'boolean'
  );
}
