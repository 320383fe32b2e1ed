import { decodeAbiParameters, type Hex, hexToBigInt, hexToString, size, slice, trim } from 'viem';

/** First word of a call's result; null when the result is shorter than a word. */
export function wordOf(result: Hex | null | undefined): bigint | null {
  return result === null || result === undefined || size(result) < 32
    ? null
    : hexToBigInt(slice(result, 0, 32));
}

/** Result of `decimals()`; null when it does not fit uint8. */
export function uint8Of(result: Hex | null | undefined): number | null {
  const word = wordOf(result);
  return word === null || word > 255n ? null : Number(word);
}

/**
 * Text of a result: a `string`, or a `bytes32` as returned by tokens older than the final ERC-20 standard, such as MKR.
 */
export function textOf(result: Hex | null | undefined): string | null {
  if (result === null || result === undefined || size(result) < 32) return null;
  try {
    if (size(result) === 32) return clean(hexToString(trim(result, { dir: 'right' })));
    const [text] = decodeAbiParameters([{ type: 'string' }], result);
    return clean(text);
  } catch {
    return null;
  }
}

/** Removes NUL, which ends a text in SQLite's functions and which PostgreSQL refuses. */
function clean(text: string): string | null {
  const visible = text.replaceAll('\0', '');
  return visible === '' ? null : visible;
}

/** Reasons of compiler-generated panics. Source: Solidity documentation, "Panic via assert and Error via require". */
const PANICS: ReadonlyMap<bigint, string> = new Map([
  [0x00n, 'generic panic'],
  [0x01n, 'assertion failed'],
  [0x11n, 'arithmetic overflow or underflow'],
  [0x12n, 'division or modulo by zero'],
  [0x21n, 'value out of range of an enum'],
  [0x22n, 'wrongly encoded storage byte array'],
  [0x31n, 'pop from an empty array'],
  [0x32n, 'array index out of bounds'],
  [0x41n, 'out of memory'],
  [0x51n, 'call of a zero-initialised function'],
]);

/** Text of a panic, such as `Panic(0x11): arithmetic overflow or underflow`. Panics keep their code (Decision 18). */
export function panicText(code: bigint): string {
  const hex = `0x${code.toString(16).padStart(2, '0')}`;
  return `Panic(${hex}): ${PANICS.get(code) ?? 'unknown panic'}`;
}
