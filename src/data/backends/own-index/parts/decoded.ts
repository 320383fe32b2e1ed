import type { Address, Hex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';

/** Name of the method, else its selector, else null (Decision 20). */
export function methodOf(abis: Abis, selector: Hex | null): string | null {
  return selector === null ? null : (abis.methodName(selector) ?? selector);
}

/** Decodes a call by a known ABI. The method id is written without 0x (Decision 19). */
export function decodedInput(
  abis: Abis,
  { to, input }: { to: Address | null; input: Hex },
): ExplorerSchemas['DecodedInput'] | null {
  const decoded = to === null ? null : abis.decodeInput({ to, input });
  if (decoded === null) return null;
  return {
    method_call: decoded.signature,
    method_id: decoded.selector.slice(2),
    parameters: decoded.parameters,
  };
}

/** Decodes an event by a known ABI. */
export function decodedLog(
  abis: Abis,
  log: { address: Address; topics: readonly Hex[]; data: Hex },
): ExplorerSchemas['DecodedLog'] | null {
  const decoded = abis.decodeLog(log);
  if (decoded === null) return null;
  return {
    method_call: decoded.signature,
    method_id: decoded.selector.slice(2),
    parameters: decoded.parameters,
  };
}
