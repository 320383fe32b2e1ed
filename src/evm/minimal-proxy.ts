import { type Address, isAddress } from 'viem';

const BEFORE = '0x363d3d373d3d3d363d73';
const BEHIND = '5af43d82803e903d91602b57fd5bf3';

/** Whom a minimal proxy hands every call to; null for any other code. Source: EIP-1167. */
export function minimalProxyTarget(code: string): Address | null {
  const lower = code.toLowerCase();
  if (!lower.startsWith(BEFORE) || !lower.endsWith(BEHIND)) return null;
  const target = `0x${lower.slice(BEFORE.length, -BEHIND.length)}`;
  return isAddress(target, { strict: false }) ? target : null;
}
