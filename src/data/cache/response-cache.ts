import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { type Entry, entrySize } from './entry.ts';
import { guardedLayer, type SecondLayer } from './second-layer.ts';

/** Kept answers, in memory and, where one is configured, in a second layer that outlives the process. */
export interface ResponseCache {
  /**
   * Returns the newest entry of both layers, unless it is past its retention. For a caller that cannot use what is `held`:
   * another process may have put a newer one into the second layer, which is looked for once per second.
   */
  get(key: string): Promise<Entry | undefined>;
  /** The entry that memory holds, without a look at the second layer. */
  held(key: string): Entry | undefined;
  /** Returns whether the entry was kept: one above the size bound is not. The second layer is written behind it. */
  set(key: string, entry: Entry): boolean;
  /**
   * Keeps an entry with another form of its body instead of the one without, if that is still kept. In memory only: where
   * it is missing after a restart it is made again.
   */
  gain(key: string, entries: { before: Entry; after: Entry }): void;
  /** Resolves when the second layer has what it was given. */
  flush(): Promise<void>;
}

export interface ResponseCacheOptions {
  readonly maxBytes: number;
  readonly second?: SecondLayer | undefined;
  readonly clock: Clock;
}

/** No single answer may push out more than this part of the others. */
const LARGEST_SHARE = 8;

/** Shortest time from one look into the second layer to the next, while memory holds the same entry. */
const LOOK_EVERY_MS = 1_000;

/** A cache in memory, bounded in bytes, over a Keyv. */
export function responseCache({ maxBytes, second, clock }: ResponseCacheOptions): ResponseCache {
  const memory = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: (entry, key) => entrySize(key, entry),
  });
  const far = second && guardedLayer(second, clock);
  /** Times of the last looks into the second layer for something newer. */
  const looks = new WeakMap<Entry, number>();
  const kept = (entry: Entry | undefined) =>
    entry !== undefined && clock.now() < entry.keepUntil ? entry : undefined;
  /** Returns false for an entry above the size bound. */
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
    gain(key, { before, after }) {
      if (memory.peek(key) === before) keep(key, after);
    },
    flush: async () => far?.flush(),
  };
}
