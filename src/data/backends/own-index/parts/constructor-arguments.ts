import { type Abi, decodeAbiParameters, type Hex } from 'viem';
import { mayDecode } from '#evm/abi/decoding-budget.ts';
import { typeText, valueText } from '#evm/abi/signatures.ts';

/** What follows the compiled code in the code that created a contract; null when that began otherwise. */
export function argumentsOf(creationInput: Hex | null, compiled: Hex | null): Hex | null {
  if (creationInput === null || compiled === null || !creationInput.startsWith(compiled)) return null;
  const rest = creationInput.slice(compiled.length);
  return rest === '' ? null : `0x${rest}`;
}

/**
 * A pair for each argument: its value as text (Decision 19) and what the constructor calls it. Null when the ABI has no
 * constructor that takes them.
 */
export function decodedArguments(abi: Abi, encoded: Hex): [string, Record<string, string>][] | null {
  const declared = abi.find(item => item.type === 'constructor');
  if (declared === undefined || !mayDecode(declared.inputs, encoded)) return null;
  try {
    const values: readonly unknown[] = decodeAbiParameters(declared.inputs, encoded);
    return declared.inputs.map((input, position) => [
      valueText(values[position]),
      { name: input.name ?? '', type: typeText(input), internalType: input.internalType ?? typeText(input) },
    ]);
  } catch {
    // What follows the code need not be arguments of this constructor.
    return null;
  }
}
