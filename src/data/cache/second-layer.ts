import { Keyv, type KeyvStoreAdapter } from 'keyv';
import type { Clock } from '../../lib/clock.ts';
import type { HasRoom } from '../../stores/disk-space.ts';
import { patience } from '../../stores/patience.ts';
import type { StoreFailures } from '../../stores/store-failures.ts';
import { type Entry, entrySize } from './entry.ts';
import { ForeignEntry, intactEntry, type StoredEntry } from './intact-entry.ts';

/** Store behind the memory cache that outlives the process and may be shared with other processes. */
export interface SecondLayer {
  readonly keyv: Keyv<StoredEntry>;
  readonly failures: StoreFailures;
  /** Longest wait of a request for the store, in milliseconds; unlimited when absent. */
  readonly timeoutMs?: number | undefined;
  /** Size of the largest entry that is written, in bytes; unlimited when absent. */
  readonly maxEntryBytes?: number;
  /** False while the disk of the store has too little space for new entries; true when absent. */
  readonly hasRoom?: HasRoom | undefined;
  /** Reopens the connection to the store when it has returned another request's reply. */
  readonly renew?: (reason: unknown) => void;
}

/** Keyv without serialization, because the store converts the values itself. */
export function plainKeyv(store: KeyvStoreAdapter): Keyv<StoredEntry> {
  const keyv = new Keyv<StoredEntry>({ store, useKeyPrefix: false, throwOnErrors: true, emitErrors: false });
  keyv.serialize = undefined;
  keyv.deserialize = undefined;
  return keyv;
}

/** Reads and writes that never reject. A store that fails or is slow counts as a miss, and its writes are dropped. */
export function guardedLayer(
  {
    keyv,
    failures,
    timeoutMs,
    maxEntryBytes = Number.POSITIVE_INFINITY,
    hasRoom = () => true,
    renew,
  }: SecondLayer,
  clock: Clock,
) {
  const reads = new Map<string, Promise<Entry | undefined>>();
  const writes = new Set<Promise<void>>();
  const reading = patience({ timeoutMs: timeoutMs });
  const writing = patience({ timeoutMs: timeoutMs }); // separate, so that slow writes do not stop reads

  return {
    /** Concurrent reads of a key share one request. */
    read(key: string): Promise<Entry | undefined> {
      const running = reads.get(key);
      if (running !== undefined) return running;
      const started = readOnce(key).finally(() => reads.delete(key));
      reads.set(key, started);
      return started;
    },
    /** Writes in the background. */
    write(key: string, entry: Entry): void {
      if (entrySize(key, entry) > maxEntryBytes || !hasRoom()) return;
      const started = writeOnce(key, entry).finally(() => writes.delete(started));
      writes.add(started);
    },
    /** Resolves when all writes have ended. */
    async flush(): Promise<void> {
      await Promise.all(writes);
    },
  };

  async function readOnce(key: string): Promise<Entry | undefined> {
    try {
      const entry = await reading(() => keyv.get(key));
      failures.works();
      return entry === undefined ? undefined : await intactEntry(entry, key);
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
