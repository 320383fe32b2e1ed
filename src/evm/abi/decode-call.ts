import { decodeAbiParameters, type Hex, size, slice } from 'viem';
import type { DecodedValues } from './decoded.ts';
import { type DecodingBudget, mayDecode } from './decoding-budget.ts';
import type { Signatures } from './signatures.ts';

/**
 * The input of a call by one ABI; null when the ABI does not know it or it would be too large, null or an exception when it
 * does not fit.
 */
export function decodeCall(
  { functions }: Signatures,
  input: Hex,
  budget?: DecodingBudget,
): DecodedValues | null {
  if (size(input) < 4) return null;
  const selector = slice(input, 0, 4);
  const item = functions.get(selector);
  if (item === undefined) return null;
  const data: Hex = `0x${input.slice(10)}`;
  if (!mayDecode(item.inputs, data, budget)) return null;
  const args: readonly unknown[] = item.inputs.length === 0 ? [] : decodeAbiParameters(item.inputs, data);
  return { name: item.name, inputs: item.inputs, args, selector };
}
