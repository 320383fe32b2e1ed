import { type Abi, decodeFunctionData, getAbiItem, type Hex, size, slice } from 'viem';
import type { DecodedInput } from './abi.ts';
import { signatureText, typeText, valueText } from './abi-text.ts';

/** The input of a call by one ABI; null or an exception when the ABI does not know it. */
export function decodeCall(abi: Abi, input: Hex): DecodedInput | null {
  if (size(input) < 4) return null;
  const { functionName, args = [] } = decodeFunctionData({ abi, data: input });
  const selector = slice(input, 0, 4);
  const item = getAbiItem({ abi, name: selector });
  if (item?.type !== 'function') return null;
  return {
    signature: signatureText(functionName, item.inputs),
    selector,
    parameters: item.inputs.map((parameter, position) => ({
      name: parameter.name ?? '',
      type: typeText(parameter),
      value: valueText(args[position]),
    })),
  };
}
