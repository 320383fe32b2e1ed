import { createKeccak } from 'hash-wasm';

// One hasher serves all calls, because a call starts and ends without a pause. That of viem takes five times as long.
const hasher = await createKeccak(256);

export function keccak(bytes: Uint8Array): Uint8Array {
  hasher.init();
  hasher.update(bytes);
  return hasher.digest('binary');
}

export const EMPTY = new Uint8Array(0);

/**
 * A value in a form that JSON-RPC does not have. Its bytes would depend on the reader, so that the stored value could be
 * another one than the hash commits to (Decision 370).
 */
export class MalformedValue extends Error {
  constructor(value: string | null | undefined) {
    super(`${JSON.stringify(value?.slice(0, 80)) ?? 'an absent value'} is not hexadecimal`);
    this.name = 'MalformedValue';
  }
}

/** Bytes of hexadecimal data. @throws MalformedValue */
export function dataBytes(data: string | null | undefined): Uint8Array {
  if (!data?.startsWith('0x')) throw new MalformedValue(data);
  const bytes = Buffer.from(data.slice(2), 'hex');
  // The decoder ends at the first character that is no digit, and before a single last one.
  if (2 * bytes.length !== data.length - 2) throw new MalformedValue(data);
  return bytes;
}

/** Bytes of a quantity without leading zeros, as RLP has integers; none for zero. @throws MalformedValue */
export function quantityBytes(quantity: string | null | undefined): Uint8Array {
  if (!quantity?.startsWith('0x') || quantity.length === 2) throw new MalformedValue(quantity);
  const digits = quantity.replace(/^0x0*/, '');
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  if (bytes.length !== Math.ceil(digits.length / 2)) throw new MalformedValue(quantity);
  return bytes;
}

/** True when hexadecimal data, which may be absent, are these bytes. @throws MalformedValue */
export function isSame(data: string | null | undefined, bytes: Uint8Array): boolean {
  return Buffer.compare(dataBytes(data ?? '0x'), bytes) === 0;
}

/** True when hexadecimal data are the hash of these bytes. @throws MalformedValue */
export function isHashOf(data: string | null | undefined, bytes: Uint8Array = EMPTY): boolean {
  return isSame(data, keccak(bytes));
}
