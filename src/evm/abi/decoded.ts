import type { AbiParameter, Hex } from 'viem';
import { signatureText, typeText, valueText } from './abi-text.ts';

/** A call or an event with its arguments as viem decodes them: integers as bigints or numbers, tuples as objects or lists. */
export interface DecodedValues {
  readonly name: string;
  readonly inputs: readonly (AbiParameter & { readonly indexed?: boolean | undefined })[];
  /** One an input. An indexed value of dynamic type is its hash: that is all a log holds. */
  readonly args: readonly unknown[];
  /** Of a log, the first four bytes of its first topic. */
  readonly selector: Hex;
}

export interface DecodedParameter {
  name: string;
  type: string;
  /** Integers in decimal, addresses and bytes in hex, arrays and tuples as JSON of those. */
  value: string;
}

export interface DecodedInput {
  /** Such as `transfer(address to, uint256 value)`. */
  signature: string;
  selector: Hex;
  parameters: DecodedParameter[];
}

export interface DecodedLog {
  signature: string;
  selector: Hex;
  parameters: (DecodedParameter & { indexed: boolean })[];
}

/** A call in words. */
export function inputInWords({ name, inputs, args, selector }: DecodedValues): DecodedInput {
  return {
    signature: signatureText(name, inputs),
    selector,
    parameters: inputs.map((input, position) => parameterInWords(input, args[position])),
  };
}

/** A log in words. */
export function logInWords({ name, inputs, args, selector }: DecodedValues): DecodedLog {
  return {
    signature: signatureText(name, inputs),
    selector,
    parameters: inputs.map((input, position) => ({
      ...parameterInWords(input, args[position]),
      indexed: input.indexed === true,
    })),
  };
}

function parameterInWords(input: AbiParameter, value: unknown): DecodedParameter {
  return { name: input.name ?? '', type: typeText(input), value: valueText(value) };
}
