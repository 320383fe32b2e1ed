import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { type Entry, entrySize } from './entry.ts';
import { guardedLayer, type SecondLayer } from './second-layer.ts';

/** Cached answers in memory and, if configured, in a second layer that outlives the process. */
export interface ResponseCache {
  /**
   * Returns the newest entry of both layers, unless it is past its retention. For callers that cannot use the entry of
   * `held`. Another process may have written a newer entry to the second layer, so memory alone answers for at most one
   * second. An entry from the future, of a process whose clock is ahead, is not used: it would be fresh for too long.
   */
  get(key: string): Promise<Entry | undefined>;
  /** Returns the entry in memory, without asking the second layer. */
  held(key: string): Entry | undefined;
  /**
   * Stores an entry in memory, and in the background in the second layer. Returns false for an entry above the size
   * limit.
   */
  set(key: string, entry: Entry): boolean;
  /**
   * Replaces an entry by the same one with a further encoding of its body, unless the entry has changed. Only in
   * memory: after a restart the encoding is made again.
   */
  replaceIfUnchanged(key: string, entries: { before: Entry; after: Entry }): void;
  /** Resolves when all writes to the second layer have ended. */
  flush(): Promise<void>;
}

export interface ResponseCacheOptions {
  readonly maxBytes: number;
  readonly second?: SecondLayer | undefined;
  readonly clock: Clock;
}

/** Limits one answer to this fraction of the memory, so that it cannot evict too many others. */
const LARGEST_SHARE = 8;

/** Minimum interval between reads of the second layer while memory holds the same entry. */
const LOOK_EVERY_MS = 1_000;

/** Response cache: size-bounded memory over an optional second layer. */
export function responseCache({ maxBytes, second, clock }: ResponseCacheOptions): ResponseCache {
  const memory = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: (entry, key) => entrySize(key, entry),
  });
  const far = second && guardedLayer(second, clock);
  /** Times of the last reads of the second layer for a newer entry. */
  const looks = new WeakMap<Entry, number>();
  const kept = (entry: Entry | undefined) =>
    entry !== undefined && entry.storedAt <= clock.now() && clock.now() < entry.keepUntil ? entry : undefined;
  /** Stores in memory. Returns false for an entry above the size limit. */
  const keep = (key: string, entry: Entry) => {
    if (entrySize(key, entry) > maxBytes / LARGEST_SHARE) return false;
    memory.set(key, entry);
    return true;
  };

  return {
    held: key => memory.get(key),
    async get(key) {
      const before = kept(memory.get(key));
      if (before !== undefined && clock.now() - (looks.get(before) ?? 0) < LOOK_EVERY_MS) return before;
      const other = kept(await far?.read(key));
      if (before !== undefined) looks.set(before, clock.now());
      const entry = kept(memory.get(key)); // another load may have replaced it during the read
      if (other === undefined || (entry !== undefined && entry.storedAt >= other.storedAt)) return entry;
      keep(key, other);
      return other;
    },
    set(key, entry) {
      if (!keep(key, entry)) return false;
      far?.write(key, entry);
      return true;
    },
    replaceIfUnchanged(key, { before, after }) {
      if (memory.peek(key) === before) keep(key, after);
    },
    flush: async () => far?.flush(),
  };
}
