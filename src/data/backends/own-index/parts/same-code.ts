import type { Hex } from 'viem';
import type { ContractSource } from '#evm/abi/contract-source.ts';

/** Whether code on the chain is what was compiled, apart from the bytes that the constructor filled in. */
export function isSameCode(code: Hex, compiled: Hex, immutables: ContractSource['immutables']): boolean {
  const found = Buffer.from(code.slice(2), 'hex');
  const wanted = Buffer.from(compiled.slice(2), 'hex');
  if (found.length !== wanted.length) return false;
  for (const { start, length } of immutables) found.fill(0, start, start + length);
  return found.equals(wanted);
}
