import {
  type AbiEvent,
  type AbiParameter,
  checksumAddress,
  decodeAbiParameters,
  type Hex,
  isAddress,
  size,
  slice,
} from 'viem';
import { type DecodingBudget, mayDecode } from './decoding-budget.ts';
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
    outputs: item.outputs,
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
  const { inTopics, inData } = parametersOf(event);
  if (!mayDecode(inData, data, { budget })) return null;
  const ofTopics = inTopics.map((alone, index) => topicValue(alone, indexedTopics[index] ?? '0x')).values();
  const ofData = decodeParameters(inData, data).values();
  const args = event.inputs.map(({ indexed }) => (indexed === true ? ofTopics : ofData).next().value);
  return { name: event.name, inputs: event.inputs, args, selector: slice(topic, 0, 4) };
}

/** Parameters of an event by location. Each topic is decoded separately. */
interface EventParameters {
  readonly inTopics: readonly (readonly [AbiParameter])[];
  readonly inData: readonly AbiParameter[];
}

const knownParameters = new WeakMap<AbiEvent, EventParameters>();

function parametersOf(event: AbiEvent): EventParameters {
  const known = knownParameters.get(event);
  if (known !== undefined) return known;
  const inTopics = event.inputs.filter(({ indexed }) => indexed === true);
  const made = {
    inTopics: inTopics.map(input => [input] as const),
    inData: event.inputs.filter(({ indexed }) => indexed !== true),
  };
  knownParameters.set(event, made);
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
  /** Values that a call returns; absent for a log. */
  readonly outputs?: readonly AbiParameter[];
}

export interface DecodedParameter {
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

/**
 * Decodes what a call returned. Null when it does not fit the outputs, or would be too large.
 */
export function resultInWords(
  outputs: readonly AbiParameter[],
  output: Hex,
  budget?: DecodingBudget,
): DecodedParameter[] | null {
  if (!mayDecode(outputs, output, { budget })) return null;
  try {
    const values = decodeParameters(outputs, output);
    return outputs.map((parameter, position) => parameterInWords(parameter, values[position]));
  } catch {
    return null; // another contract may return something else under this selector
  }
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

/** Decodes one word, given as 64 lower-case hex digits. @throws when it does not fit the type */
type WordDecoder = (digits: string) => unknown;

/**
 * Decoders of parameter lists in which each parameter is one word; null for other lists. Weak keys: the cache lives as
 * long as the ABI.
 */
const kept = new WeakMap<readonly AbiParameter[], readonly WordDecoder[] | null>();

/**
 * Decodes parameters like viem's `decodeAbiParameters`, except that top-level addresses are lower case: their checksum
 * costs more than everything else. Most calls and logs have one word per value, and decoding those directly takes a
 * tenth of viem's time. The values begin at digit `start` of `hex`; the part before is not cut off, because that would
 * copy long data.
 * @throws RangeError when the data is too short or not hexadecimal
 */
export function decodeParameters(inputs: readonly AbiParameter[], hex: Hex, start = 2): readonly unknown[] {
  const decoders = decodersOf(inputs);
  if (decoders === null) return decodeAbiParameters(inputs, bytesFrom(hex, start));
  const digits = hex.slice(start, start + WORD_DIGITS * decoders.length).toLowerCase();
  if (digits.length < WORD_DIGITS * decoders.length) throw new RangeError('A value is truncated.');
  if (NO_DIGIT.test(digits)) throw new RangeError('A value is not hexadecimal.');
  return decoders.map((decode, index) =>
    decode(digits.slice(WORD_DIGITS * index, WORD_DIGITS * (index + 1))),
  );
}

const WORD_DIGITS = 64;
const NO_DIGIT = /[^0-9a-f]/;

/** Parses hex much faster than viem. Buffer.from stops silently at the first invalid pair of digits. */
function bytesFrom(hex: Hex, start: number): Buffer {
  const bytes = Buffer.from(hex.slice(start), 'hex');
  if (bytes.length * 2 !== hex.length - start) throw new RangeError('The data is not hexadecimal.');
  return bytes;
}

function decodersOf(inputs: readonly AbiParameter[]): readonly WordDecoder[] | null {
  const known = kept.get(inputs);
  if (known !== undefined) return known;
  const decoders = inputs.map(({ type }) => wordDecoder(type)).filter(decoder => decoder !== null);
  const made = decoders.length < inputs.length ? null : decoders;
  kept.set(inputs, made);
  return made;
}

/** Integers of up to this many bits are decoded as numbers, as viem does. */
const MAX_BITS_OF_NUMBER = 48;

function wordDecoder(type: string): WordDecoder | null {
  if (type === 'address') return digits => `0x${digits.slice(24)}`;
  if (type === 'bool') return truth;
  const [, bytes] = /^bytes([1-9]|[12]\d|3[0-2])$/.exec(type) ?? [];
  if (bytes !== undefined) return digits => `0x${digits.slice(0, 2 * Number(bytes))}`;
  const [, unsigned, bits] = /^(u?)int(\d*)$/.exec(type) ?? [];
  if (bits === undefined) return null;
  const integer: (digits: string) => bigint =
    unsigned === 'u' ? digits => BigInt(`0x${digits}`) : digits => BigInt.asIntN(256, BigInt(`0x${digits}`));
  return Number(bits || 256) > MAX_BITS_OF_NUMBER ? integer : digits => safeNumber(integer(digits));
}

function truth(digits: string): boolean {
  const value = BigInt(`0x${digits}`);
  if (value > 1n) throw new RangeError('A word is not a boolean.');
  return value === 1n;
}

function safeNumber(integer: bigint): number {
  const number = Number(integer);
  if (!Number.isSafeInteger(number)) throw new RangeError('A word is longer than its type.');
  return number;
}
