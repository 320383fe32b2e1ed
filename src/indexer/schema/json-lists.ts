import { type Hash, isHex } from 'viem';

/** Entries of a JSON list column. Empty for null. */
export function unknownList(column: string | null): unknown[] {
  const parsed: unknown = column === null ? [] : JSON.parse(column);
  return Array.isArray(parsed) ? parsed : [];
}

/** Hashes of a JSON list column. Empty for null. */
export function hashList(column: string | null): Hash[] {
  return unknownList(column).filter(entry => isHex(entry));
}
