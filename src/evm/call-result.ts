import { decodeAbiParameters, type Hex, hexToBigInt, hexToString, size, slice, trim } from 'viem';

/** The first word of what a call returned, or null when it returned less: not what was asked for. */
export function wordOf(result: Hex | null | undefined): bigint | null {
  return result === null || result === undefined || size(result) < 32
    ? null
    : hexToBigInt(slice(result, 0, 32));
}

/** `decimals()`: a number that does not fit uint8 is nonsense. */
export function uint8Of(result: Hex | null | undefined): number | null {
  const word = wordOf(result);
  return word === null || word > 255n ? null : Number(word);
}

/** A `string`, or a `bytes32` as tokens before the ERC-20 standard settled return (MKR, for one). */
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

/** NUL ends a text in SQLite's own functions and is refused by PostgreSQL. */
function clean(text: string): string | null {
  const visible = text.replaceAll('\0', '');
  return visible === '' ? null : visible;
}
