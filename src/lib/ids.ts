import { randomBytes } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Largest multiple of 62 that fits in a byte. Bytes from this value on are dropped. Otherwise the first characters
 * would be more likely than the last.
 */
const FAIR_BYTES = 248;

/** Characters behind an id's prefix: 142 bits, so an id cannot be guessed. */
const ID_LENGTH = 24;

/** A new id such as `pl_4kZ…`: the prefix of its kind, `_`, and 24 random base62 characters. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBase62(ID_LENGTH)}`;
}

/** True for text in the form that `newId(prefix)` returns. */
export function isId(prefix: string, text: string): boolean {
  return (
    text.length === prefix.length + 1 + ID_LENGTH &&
    text.startsWith(`${prefix}_`) &&
    /^[0-9A-Za-z]+$/.test(text.slice(prefix.length + 1))
  );
}

/** Random base62 text of a length, each character equally likely, from the system's cryptographic source. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length + 4)) {
      if (byte < FAIR_BYTES && text.length < length) text += BASE62.charAt(byte % BASE62.length);
    }
  }
  return text;
}
