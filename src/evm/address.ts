import type { Hex } from 'viem';

/** Address without an owner. Contracts and upstreams write it for "none" and for the chain's coin. */
export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';

/** First bytes of the code of an account that delegates to a contract. Source: EIP-7702. */
export const DELEGATION_PREFIX = '0xef0100';

/** Lower-case form of an address, a hash or a selector, as the index keeps them. The caller has checked its digits. */
export function lowerCase(text: string): Hex {
  return `0x${text.slice(2).toLowerCase()}`;
}
