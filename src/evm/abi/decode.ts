import { type AbiEvent, type AbiParameter, checksumAddress, type Hex, isAddress, size, slice } from 'viem';
import { type DecodingBudget, mayDecode } from './decoding-budget.ts';
import { decodeParameters } from './parameters.ts';
import { type Signatures, signatureText, typeText, valueText } from './signatures.ts';

/** Index of the first parameter digit in a call's input, after `0x` and the selector. */
const SELECTOR_END = 10;

/**
 * Decodes the input of a call by one ABI. Returns null when the ABI lacks the function or the result would be too
 * large. Input that does not fit gives null or throws.
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
  if (!mayDecode(item.inputs, input, { budget, start: SELECTOR_END })) return null;
  return {
    name: item.name,
    inputs: item.inputs,
    args: decodeParameters(item.inputs, input, SELECTOR_END),
    selector,
  };
}

/**
 * Decodes a log by one ABI. Returns null when the ABI lacks the event or the result would be too large. A log that does
 * not fit gives null or throws. The number of topics must match: only that distinguishes the ERC-20 `Transfer` from the
 * ERC-721 one.
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
  const { inTopics, inData } = placesOf(event);
  if (!mayDecode(inData, data, { budget })) return null;
  const ofTopics = inTopics.map((alone, place) => topicValue(alone, indexedTopics[place] ?? '0x')).values();
  const ofData = decodeParameters(inData, data).values();
  const args = event.inputs.map(({ indexed }) => (indexed === true ? ofTopics : ofData).next().value);
  return { name: event.name, inputs: event.inputs, args, selector: slice(topic, 0, 4) };
}

/** Parameters of an event by location. Each topic is decoded separately. */
interface EventPlaces {
  readonly inTopics: readonly (readonly [AbiParameter])[];
  readonly inData: readonly AbiParameter[];
}

const keptPlaces = new WeakMap<AbiEvent, EventPlaces>();

function placesOf(event: AbiEvent): EventPlaces {
  const known = keptPlaces.get(event);
  if (known !== undefined) return known;
  const inTopics = event.inputs.filter(({ indexed }) => indexed === true);
  const made = {
    inTopics: inTopics.map(input => [input] as const),
    inData: event.inputs.filter(({ indexed }) => indexed !== true),
  };
  keptPlaces.set(event, made);
  return made;
}

/** Value of a topic. Strings, bytes, tuples and arrays are indexed by their hash. */
function topicValue(alone: readonly [AbiParameter], topic: Hex): unknown {
  const [{ type }] = alone;
  const isHashed = type === 'string' || type === 'bytes' || type === 'tuple' || type.endsWith(']');
  return isHashed ? topic : decodeParameters(alone, topic)[0];
}

/**
 * Call or event with its arguments as `decodeParameters` returns them: integers as bigints or numbers, tuples as
 * objects or arrays.
 */
export interface DecodedValues {
  readonly name: string;
  readonly inputs: readonly (AbiParameter & { readonly indexed?: boolean | undefined })[];
  /** One per input. An indexed value of dynamic type is its hash, because a log holds no more. */
  readonly args: readonly unknown[];
  /** For a log, the first four bytes of its first topic. */
  readonly selector: Hex;
}

interface DecodedParameter {
  name: string;
  type: string;
  /** Integers in decimal, addresses and bytes in hex, arrays and tuples as JSON of those. */
  value: string;
}

export interface DecodedInput {
  /** Signature, such as `transfer(address to, uint256 value)`. */
  signature: string;
  selector: Hex;
  parameters: DecodedParameter[];
}

export interface DecodedLog {
  signature: string;
  selector: Hex;
  parameters: (DecodedParameter & { indexed: boolean })[];
}

/** Formats a decoded call as text. */
export function inputInWords({ name, inputs, args, selector }: DecodedValues): DecodedInput {
  return {
    signature: signatureText(name, inputs),
    selector,
    parameters: inputs.map((input, position) => parameterInWords(input, args[position])),
  };
}

/** Formats a decoded log as text. */
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
  return { name: input.name ?? '', type: typeText(input), value: valueText(checksummed(value, input)) };
}

function checksummed(value: unknown, { type }: AbiParameter): unknown {
  return type === 'address' && typeof value === 'string' && isAddress(value, { strict: false })
    ? checksumAddress(value)
    : value;
}
