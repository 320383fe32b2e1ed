const SPACE = 0x20;

/**
 * Counts the keys and items of a JSON text in UTF-8 over all levels, and stops above `most`. Parsing takes far longer,
 * a microsecond per key, so a text with too many is refused by its count. For bytes that are no JSON the count has no
 * meaning.
 */
export function countMembers(bytes: Uint8Array, most: number): number {
  let count = 0;
  let isAfterOpener = false;
  for (let at = 0; at < bytes.length && count <= most; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE) continue;
    if (byte === COMMA || (isAfterOpener && !isCloser(byte))) count += 1;
    isAfterOpener = isOpener(byte);
    if (byte === QUOTE) at = endOfString(bytes, at);
  }
  return count;
}

/** Bytes of the structure of a JSON text in UTF-8. No byte of a longer character is equal to one of these. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const LIST = 0x5b;
const BACKSLASH = 0x5c;
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const BRACE_BIT = 0x20;

/** True for `[` and `{`. */
export function isOpener(byte: number): boolean {
  return (byte | BRACE_BIT) === 0x7b;
}

/** True for `]` and `}`. Each is two above the one that opens. */
export function isCloser(byte: number): boolean {
  return (byte | BRACE_BIT) === 0x7d;
}

/** Position of the quote that ends the string which begins at `start`, or beyond the last byte. */
export function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
