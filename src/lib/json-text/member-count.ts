const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const BRACE_BIT = 0x20;
const OPENER = 0x7b;
const CLOSER = 0x7d;

/**
 * Counts the keys and items of a JSON text in UTF-8 over all levels, and stops above `most`. Parsing takes far longer,
 * a microsecond per key, so a text with too many is refused by its count. For bytes that are no JSON the count has no
 * meaning.
 */
export function countMembers(bytes: Uint8Array, most: number): number {
  let count = 0;
  let isAfterOpener = false;
  for (let place = 0; place < bytes.length && count <= most; place += 1) {
    const byte = bytes[place] ?? 0;
    if (byte <= SPACE) continue;
    const shape = byte | BRACE_BIT;
    if (byte === COMMA || (isAfterOpener && shape !== CLOSER)) count += 1;
    isAfterOpener = shape === OPENER;
    if (byte === QUOTE) place = endOfString(bytes, place);
  }
  return count;
}

/** Place of the quote that ends the string which begins at `start`, or beyond the last byte. */
function endOfString(bytes: Uint8Array, start: number): number {
  let place = start + 1;
  while (place < bytes.length && bytes[place] !== QUOTE) place += bytes[place] === BACKSLASH ? 2 : 1;
  return place;
}
