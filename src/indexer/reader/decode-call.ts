import { decodeAbiParameters, type Hex, size, slice } from 'viem';
import type { Decoded } from './decoded.ts';
import type { Signatures } from './signatures.ts';

/** The input of a call by one ABI; null when the ABI does not know it, an exception when it does not fit. */
export function decodeCall({ functions }: Signatures, input: Hex): Decoded | null {
  if (size(input) < 4) return null;
  const selector = slice(input, 0, 4);
  const item = functions.get(selector);
  if (item === undefined) return null;
  const args: readonly unknown[] =
    item.inputs.length === 0 ? [] : decodeAbiParameters(item.inputs, `0x${input.slice(10)}`);
  return { name: item.name, inputs: item.inputs, args, selector };
}
