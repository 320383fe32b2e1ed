import { type Hash, isHex } from 'viem';

/** A JSON list as it was written; empty when there is none. */
export function unknownList(column: string | null): unknown[] {
  const parsed: unknown = column === null ? [] : JSON.parse(column);
  return Array.isArray(parsed) ? parsed : [];
}

/** The same, of hashes. */
export function hashList(column: string | null): Hash[] {
  return unknownList(column).filter(entry => isHex(entry));
}
