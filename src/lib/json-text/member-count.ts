import { COMMA, endOfString, isCloser, isOpener, QUOTE } from './json-bytes.ts';

const SPACE = 0x20;

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
    if (byte === COMMA || (isAfterOpener && !isCloser(byte))) count += 1;
    isAfterOpener = isOpener(byte);
    if (byte === QUOTE) place = endOfString(bytes, place);
  }
  return count;
}
