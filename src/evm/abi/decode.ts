import { type AbiParameter, decodeAbiParameters, decodeEventLog, type Hex, size, slice } from 'viem';
import { type DecodingBudget, mayDecode } from './decoding-budget.ts';
import { type Signatures, signatureText, typeText, valueText } from './signatures.ts';

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

/**
 * A log by one ABI; null when the ABI does not know it or it would be too large, null or an exception when it does not fit. The
 * number of topics must fit, which is all that tells an ERC-20 `Transfer` from an ERC-721 one.
 */
export function decodeEvent(
  { events }: Signatures,
  topics: readonly Hex[],
  data: Hex,
  budget?: DecodingBudget,
): DecodedValues | null {
  const [topic, ...indexedTopics] = topics;
  if (topic === undefined) return null;
  const event = events
    .get(topic)
    ?.find(({ inputs }) => inputs.filter(({ indexed }) => indexed).length === indexedTopics.length);
  if (event === undefined) return null;
  const inData = event.inputs.filter(({ indexed }) => indexed !== true);
  if (!mayDecode(inData, data, budget)) return null;
  // Without names viem returns the arguments as a list, which also serves events whose names repeat.
  const unnamed = { ...event, inputs: event.inputs.map(({ name: _, ...input }) => input) };
  const { args } = decodeEventLog({ abi: [unnamed], topics: [topic, ...indexedTopics], data, strict: true });
  const values: unknown[] = Array.isArray(args) ? args : [];
  return { name: event.name, inputs: event.inputs, args: values, selector: slice(topic, 0, 4) };
}

/** A call or an event with its arguments as viem decodes them: integers as bigints or numbers, tuples as objects or lists. */
export interface DecodedValues {
  readonly name: string;
  readonly inputs: readonly (AbiParameter & { readonly indexed?: boolean | undefined })[];
  /** One an input. An indexed value of dynamic type is its hash: that is all a log holds. */
  readonly args: readonly unknown[];
  /** Of a log, the first four bytes of its first topic. */
  readonly selector: Hex;
}

interface DecodedParameter {
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
