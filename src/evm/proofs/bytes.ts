import { createKeccak } from 'hash-wasm';

// One hasher serves all calls, because a call starts and ends without a pause. That of viem takes five times as long.
const hasher = await createKeccak(256);

export function keccak(bytes: Uint8Array): Uint8Array {
  hasher.init();
  hasher.update(bytes);
  return hasher.digest('binary');
}

export const EMPTY = new Uint8Array(0);

/** Bytes of hexadecimal data; none for an absent value. */
export function dataBytes(data: string | null | undefined): Uint8Array {
  return data === null || data === undefined ? EMPTY : Buffer.from(data.slice(2), 'hex');
}

/** Bytes of a quantity without leading zeros, as RLP has integers; none for zero and for an absent value. */
export function quantityBytes(quantity: string | null | undefined): Uint8Array {
  if (quantity === null || quantity === undefined) return EMPTY;
  const digits = quantity.replace(/^0x0*/, '');
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

/** True when hexadecimal data, which may be absent, are these bytes. */
export function isSame(data: string | null | undefined, bytes: Uint8Array): boolean {
  return Buffer.compare(dataBytes(data), bytes) === 0;
}

/** True when hexadecimal data are the hash of these bytes. */
export function isHashOf(data: string | null | undefined, bytes: Uint8Array = EMPTY): boolean {
  return isSame(data, keccak(bytes));
}
