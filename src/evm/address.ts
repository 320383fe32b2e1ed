import { type Address, type Hex, isAddress } from 'viem';

/** Address without an owner. Contracts and upstreams use it for "none" and for the chain's coin. */
export const ZERO_ADDRESS = '0x0000000000000000000000000000000000000000';

/** First bytes of the code of an account that delegates to a contract. Source: EIP-7702. */
export const DELEGATION_PREFIX = '0xef0100';

/**
 * Lower-case form of an address, a hash or a selector, as the index stores them. The caller has validated the digits.
 */
export function lowerCase(text: string): Hex {
  return `0x${text.slice(2).toLowerCase()}`;
}

/** The lower-case address in a topic of a log; undefined when the bytes before its 20 bytes are not zero. */
export function addressInTopic(topic: string | undefined): string | undefined {
  const [, address] = /^0x0{24}([0-9a-f]{40})$/i.exec(topic ?? '') ?? [];
  return address === undefined ? undefined : `0x${address.toLowerCase()}`;
}

const BEFORE = '0x363d3d373d3d3d363d73';
const BEHIND = '5af43d82803e903d91602b57fd5bf3';

/** Contract that a minimal proxy delegates to; null for any other code. Source: EIP-1167. */
export function minimalProxyTarget(code: string): Address | null {
  const lower = code.toLowerCase();
  if (!lower.startsWith(BEFORE) || !lower.endsWith(BEHIND)) return null;
  const target = `0x${lower.slice(BEFORE.length, -BEHIND.length)}`;
  return isAddress(target, { strict: false }) ? target : null;
}
