import type { KeyvStoreAdapter } from 'keyv';
import { LRUCache } from 'lru-cache';

/** What Keyv hands to a store that keeps values as they are: the value in its envelope. */
export interface Envelope<Value> {
  readonly value: Value;
  readonly expires?: number | undefined;
}

export interface MemoryStore<Value> extends KeyvStoreAdapter {
  bytes(): number;
  /** The value that `get` resolves to, at once. */
  held(key: string): Value | undefined;
  /** Holds one value instead of another, if it still holds that. */
  exchange(key: string, values: { before: Value; after: Value }): void;
}

/** A Keyv store in memory, bounded in bytes: the least recently used value goes first. */
export function memoryStore<Value extends object>({
  maxBytes,
  sizeOf,
}: {
  maxBytes: number;
  sizeOf: (key: string, value: Value) => number;
}): MemoryStore<Value> {
  const values = new LRUCache<string, Envelope<Value>>({
    maxSize: maxBytes,
    sizeCalculation: (envelope, key) => sizeOf(key, envelope.value),
  });
  return {
    opts: {},
    namespace: undefined,
    get: async <Found>(key: string) => values.get(key) as Found | undefined,
    set: async (key: string, envelope: Envelope<Value>) => {
      values.set(key, envelope);
      return true;
    },
    delete: async (key: string) => values.delete(key),
    clear: async () => values.clear(),
    bytes: () => values.calculatedSize,
    held: key => values.get(key)?.value,
    exchange(key, { before, after }) {
      const envelope = values.peek(key);
      if (envelope?.value === before) values.set(key, { ...envelope, value: after });
    },
    on() {
      return this;
    },
  };
}
