import { LRUCache } from 'lru-cache';
import { type Address, namehash } from 'viem';
import type { Reader } from '#indexer/index-reader.ts';
import type { Clock } from '#lib/clock.ts';

/** What names of one chain stand for. */
export interface NameBook {
  /** Of a normalised name, in lower case; null when it stands for nothing. @throws when the node cannot be reached. */
  addressOf(name: string): Promise<Address | null>;
}

const REMEMBERED_MS = 60_000;
const REMEMBERED = 1_000;

/**
 * The names of a registry (EIP-137), each asked for once a minute at most and again after every block: answers are kept
 * for as long as the `revision` of the index, so what they are made from must not be older.
 */
export function nameBook({
  reader,
  registry,
  revision,
  clock,
}: {
  reader: Pick<Reader, 'resolveName'>;
  registry: Address;
  /** Differs with every block that the index has read. */
  revision: () => string;
  clock: Clock;
}): NameBook {
  const remembered = new LRUCache<string, Promise<Address | null>>({
    max: REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: clock,
  });

  function ask(key: string, name: string): Promise<Address | null> {
    const asked = reader.resolveName({ registry, node: namehash(name) });
    remembered.set(key, asked);
    // What could not be asked is asked again.
    asked.catch(() => remembered.delete(key));
    return asked;
  }

  return {
    addressOf(name) {
      const key = `${revision()} ${name}`;
      return remembered.get(key) ?? ask(key, name);
    },
  };
}
