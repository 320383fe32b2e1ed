import { LRUCache } from 'lru-cache';
import { type Address, isAddress } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { Reader } from '#indexer/index-reader.ts';
import type { Clock } from '#lib/clock.ts';
import type { Gateways } from '#node/names/gateways.ts';
import { BackendError } from '../../port/backend-error.ts';

/**
 * Resolves a parameter to an address in lower case. A name is looked up in the chain's registry and remembered until
 * the next block, for one minute at most.
 * @throws BackendError `not_found` with the reason `unknown_name` when the chain has no registry or not this name.
 */
export async function resolveAddress(
  source: { readonly names?: NameBook | undefined },
  text: string,
): Promise<Address> {
  if (isAddress(text, { strict: false })) return lowerCase(text);
  const name = source.names === undefined ? null : await normalised(text);
  const address = name === null ? null : await source.names?.addressOf(name);
  if (address === null || address === undefined) {
    throw new BackendError('not_found', 'unknown_name', `no address is known by the name ${text}`);
  }
  return address;
}

/** Resolves a list to addresses without duplicates. @throws as `resolveAddress` does. */
export async function resolveAddresses(
  source: { readonly names?: NameBook | undefined },
  texts: readonly string[],
): Promise<Address[]> {
  return [...new Set(await Promise.all(texts.map(text => resolveAddress(source, text))))];
}

/** Loads the tables of ENSIP-15, which takes 160 ms, before the first request needs them. */
export async function warmUpNames(): Promise<void> {
  await normalised('warm.eth');
}

/** Normalises a name by ENSIP-15; null for an invalid name. The tables are loaded only when a chain has names. */
async function normalised(text: string): Promise<string | null> {
  const { normalize } = await import('viem/ens');
  try {
    return normalize(text);
  } catch {
    return null;
  }
}

/** Names of one chain and their addresses. */
export interface NameBook {
  /** Address of a normalised name, in lower case; null when it has none. @throws when the node cannot be reached. */
  addressOf(name: string): Promise<Address | null>;
}

const REMEMBERED_MS = 60_000;
const REMEMBERED = 1_000;

/**
 * Names of a registry (EIP-137), each looked up again after every block and after one minute at most. Answers are
 * cached for the `revision` of the index, so a name must not be older than it.
 */
export function nameBook({
  reader,
  registry,
  gateways,
  revision,
  clock,
}: {
  reader: Pick<Reader, 'resolveName'>;
  registry: Address;
  /** Reads names outside of the chain. */
  gateways?: Gateways | undefined;
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
    const asked = reader.resolveName({ registry, name, gateways });
    remembered.set(key, asked);
    // Failed look-ups are not remembered.
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
