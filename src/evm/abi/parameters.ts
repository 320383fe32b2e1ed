import { type AbiParameter, decodeAbiParameters, type Hex } from 'viem';

/** Decodes the word of a value, given as 64 digits in lower case. Throws what does not fit its type. */
type WordDecoder = (digits: string) => unknown;

/** Of parameters that are one word each; null of others. Kept with their list, which lives as long as its ABI. */
const kept = new WeakMap<readonly AbiParameter[], readonly WordDecoder[] | null>();

/**
 * The values of parameters as `decodeAbiParameters` of viem gives them, but for addresses that are no part of another
 * value: they are in lower case, because their checksum costs more than all the rest. Most calls and logs have one word
 * a value, which takes a tenth of the time that viem's walk takes. They are encoded in `hex` from a digit on; what is in
 * front of them is not cut off first, because long data would be copied. Throws what is cut off or no hexadecimal.
 */
export function decodeParameters(inputs: readonly AbiParameter[], hex: Hex, start = 2): readonly unknown[] {
  const decoders = decodersOf(inputs);
  if (decoders === null) return decodeAbiParameters(inputs, bytesFrom(hex, start));
  const digits = hex.slice(start, start + WORD_DIGITS * decoders.length).toLowerCase();
  if (digits.length < WORD_DIGITS * decoders.length) throw new RangeError('A value is cut off.');
  if (NO_DIGIT.test(digits)) throw new RangeError('A value is not hexadecimal.');
  return decoders.map((decode, place) =>
    decode(digits.slice(WORD_DIGITS * place, WORD_DIGITS * (place + 1))),
  );
}

const WORD_DIGITS = 64;
const NO_DIGIT = /[^0-9a-f]/;

/** Bytes of digits, much quicker than by viem. Node ends them without a word where two digits are none. */
function bytesFrom(hex: Hex, start: number): Buffer {
  const bytes = Buffer.from(hex.slice(start), 'hex');
  if (bytes.length * 2 !== hex.length - start) throw new RangeError('A text is not hexadecimal.');
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

/** Integers of up to so many bits are numbers. */
const MOST_BITS_OF_NUMBER = 48;

function wordDecoder(type: string): WordDecoder | null {
  if (type === 'address') return digits => `0x${digits.slice(24)}`;
  if (type === 'bool') return truth;
  const [, bytes] = /^bytes([1-9]|[12]\d|3[0-2])$/.exec(type) ?? [];
  if (bytes !== undefined) return digits => `0x${digits.slice(0, 2 * Number(bytes))}`;
  const [, unsigned, bits] = /^(u?)int(\d*)$/.exec(type) ?? [];
  if (bits === undefined) return null;
  const integer: (digits: string) => bigint =
    unsigned === 'u' ? digits => BigInt(`0x${digits}`) : digits => BigInt.asIntN(256, BigInt(`0x${digits}`));
  return Number(bits || 256) > MOST_BITS_OF_NUMBER ? integer : digits => safeNumber(integer(digits));
}

function truth(digits: string): boolean {
  const value = BigInt(`0x${digits}`);
  if (value > 1n) throw new RangeError('A word is no truth value.');
  return value === 1n;
}

function safeNumber(integer: bigint): number {
  const number = Number(integer);
  if (!Number.isSafeInteger(number)) throw new RangeError('A word is longer than its type.');
  return number;
}
