import type { Address, Hex } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';

/** Decision 20: the method's name, else its selector, else null. */
export function methodOf(abis: Abis, selector: Hex | null): string | null {
  return selector === null ? null : (abis.methodName(selector) ?? selector);
}

/** The call in words where an ABI is known. Decision 19: the method's id is written without 0x. */
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

/** The event in words where an ABI is known. */
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
