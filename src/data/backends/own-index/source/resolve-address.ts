import { type Address, isAddress } from 'viem';
import { normalize } from 'viem/ens';
import { lowerCase } from '#evm/address.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { IndexSource } from './source.ts';

/**
 * The address that a parameter means, in lower case: hexadecimal as it is, a name by the registry of this chain, which
 * is remembered until the next block, and for a minute at most.
 * @throws BackendError `not_found` with the reason `unknown_name` when the chain has no registry or not this name.
 */
export async function resolveAddress(source: Pick<IndexSource, 'names'>, text: string): Promise<Address> {
  if (isAddress(text, { strict: false })) return lowerCase(text);
  const name = normalised(text);
  const address = name === null ? null : await source.names?.addressOf(name);
  if (address === null || address === undefined) {
    throw new BackendError('not_found', 'unknown_name', `no address is known by the name ${text}`);
  }
  return address;
}

/** Reads the tables of ENSIP-15, which takes 160 ms, before the first request needs them. */
export function warmUpNames(): void {
  normalised('warm.eth');
}

/** As ENSIP-15 has it; null for what can be no name. */
function normalised(text: string): string | null {
  try {
    return normalize(text);
  } catch {
    return null;
  }
}
