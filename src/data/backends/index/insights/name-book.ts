import { LRUCache } from 'lru-cache';
import { type Address, namehash } from 'viem';
import type { Reader } from '../../../../indexer/reader/reader.ts';
import type { Clock } from '../../../../lib/clock.ts';

/** What names of one chain stand for. */
export interface NameBook {
  /** Of a normalised name, in lower case; null when it stands for nothing. @throws when the node cannot be reached. */
  addressOf(name: string): Promise<Address | null>;
}

const REMEMBERED_MS = 60_000;
const REMEMBERED = 1_000;

/** The names of a registry (EIP-137), each asked for once a minute at most. */
export function nameBook({
  reader,
  registry,
  clock,
}: {
  reader: Pick<Reader, 'resolveName'>;
  registry: Address;
  clock: Clock;
}): NameBook {
  const remembered = new LRUCache<string, Promise<Address | null>>({
    max: REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: clock,
  });

  function ask(name: string): Promise<Address | null> {
    const asked = reader.resolveName({ registry, node: namehash(name) });
    remembered.set(name, asked);
    // What could not be asked is asked again.
    asked.catch(() => remembered.delete(name));
    return asked;
  }

  return { addressOf: name => remembered.get(name) ?? ask(name) };
}
