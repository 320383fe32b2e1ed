import { setImmediate } from 'node:timers/promises';
import type { Address } from 'viem';
import { recoverAuthorizationAddress } from 'viem/utils';
import { lowerCase } from './address.ts';

/**
 * Returns the accounts that signed the EIP-7702 authorizations of a transaction, in lower case. Skips authorizations
 * for other chains and malformed entries. A signer's code may still be unchanged, because the chain also compares its
 * nonce.
 */
export async function authoritiesOf(authorizations: readonly unknown[], chainId: number): Promise<Address[]> {
  const found: Address[] = [];
  for (const entry of authorizations) {
    const authority = await authorityOf(entry, chainId);
    if (authority !== null) found.push(authority);
    await setImmediate(); // recovering a signer blocks the event loop for milliseconds
  }
  return found;
}

async function authorityOf(entry: unknown, chainId: number): Promise<Address | null> {
  if (!isAuthorization(entry)) return null;
  const signedFor = Number(entry.chainId);
  if (signedFor !== 0 && signedFor !== chainId) return null;
  const authorization = {
    address: entry.address,
    chainId: signedFor,
    nonce: Number(entry.nonce),
    r: entry.r,
    s: entry.s,
    yParity: Number(entry.yParity),
  };
  try {
    return lowerCase(await recoverAuthorizationAddress({ authorization }));
  } catch {
    return null; // the chain also skips an authorization with an impossible signature
  }
}

type Authorization = Record<(typeof FIELDS)[number], `0x${string}`>;

const FIELDS = ['address', 'chainId', 'nonce', 'r', 's', 'yParity'] as const;

function isAuthorization(entry: unknown): entry is Authorization {
  if (typeof entry !== 'object' || entry === null) return false;
  const fields: Record<string, unknown> = { ...entry };
  return FIELDS.every(name => {
    const value = fields[name];
    return typeof value === 'string' && value.startsWith('0x');
  });
}
