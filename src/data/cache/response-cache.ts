import type { Clock } from '../../lib/clock.ts';
import { type Entry, entrySize } from './entry.ts';
import { memoryStore } from './memory-store.ts';
import { guardedLayer, plainKeyv, type SecondLayer } from './second-layer.ts';

/** Kept answers, in memory and, where one is configured, in a second layer that outlives the process. */
export interface ResponseCache {
  /**
   * The entry of memory if it is usable, as every one is when nothing is given; otherwise the newest one. Another process may have put a newer one into the
   * second layer. None is given past its retention.
   */
  get(key: string, isUsable?: (entry: Entry) => boolean): Promise<Entry | undefined>;
  /** The entry that memory holds, without a look at the second layer. */
  held(key: string): Entry | undefined;
  /** Answers whether the entry was kept: one above the size bound is not. The second layer is written behind it. */
  set(key: string, entry: Entry): Promise<boolean>;
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

/** A cache over Keyv stores. */
export function responseCache({ maxBytes, second, clock }: ResponseCacheOptions): ResponseCache {
  const memory = memoryStore<Entry>({ maxBytes, sizeOf: entrySize });
  const near = plainKeyv<Entry>(memory);
  const far = second && guardedLayer(second, clock);
  const isTooLarge = (key: string, entry: Entry) => entrySize(key, entry) > maxBytes / LARGEST_SHARE;
  const kept = (entry: Entry | undefined) =>
    entry !== undefined && clock.now() < entry.keepUntil ? entry : undefined;
  const keep = (key: string, entry: Entry) =>
    near.set(key, entry, Math.max(1, entry.keepUntil - clock.now()));

  return {
    held: memory.held,
    async get(key, isUsable = () => true) {
      const entry = kept(await near.get(key));
      if (far === undefined || (entry !== undefined && isUsable(entry))) return entry;
      const other = kept(await far.read(key));
      if (other === undefined || (entry !== undefined && entry.storedAt >= other.storedAt)) return entry;
      await keep(key, other);
      return other;
    },
    async set(key, entry) {
      if (isTooLarge(key, entry)) return false;
      await keep(key, entry);
      far?.write(key, entry);
      return true;
    },
    gain(key, entries) {
      if (!isTooLarge(key, entries.after)) memory.exchange(key, entries);
    },
    flush: async () => far?.flush(),
  };
}
