import type { Address } from 'viem';
import { isAddress } from 'viem';
import { lowerCase } from '#evm/address.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import { isHeight, type Keys, notOurs } from './position.ts';

/** 78 digits are not always below this. */
const UINT256_END = 1n << 256n;

/**
 * The needed keys of a position, undefined at the list's start. `others` are keys of the list that make no position
 * by themselves. Decision 4: the keys belong together.
 * @throws BackendError `rejected` when some are given but not all.
 */
export function wholeKeys(
  { position, query }: { position: CursorPosition | undefined; query: Keys },
  needed: readonly string[],
  others: readonly string[] = [],
): Keys | undefined {
  const keys = position ?? query;
  const lost = needed.find(name => keys[name] === undefined);
  if (lost === undefined) return keys;
  if (position !== undefined) throw notOurs();
  const given = [...needed, ...others].find(name => keys[name] !== undefined);
  if (given === undefined) return undefined;
  throw new BackendError('rejected', 'bad_input', `${lost}: must be given together with ${given}`);
}

/** @throws BackendError `rejected` when a cursor holds anything else. */
export function addressKey(value: unknown): Address {
  if (typeof value !== 'string' || !isAddress(value, { strict: false })) throw notOurs();
  return lowerCase(value);
}

/** A decimal integer below 2^256. @throws BackendError `rejected` when a cursor holds anything else, `null` included. */
export function uintKey(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) throw notOurs();
  const number = BigInt(value);
  if (number >= UINT256_END) throw notOurs();
  return number;
}

/** @throws BackendError `rejected` when a cursor holds no count. */
export function countKey(value: unknown): number {
  if (!isHeight(value)) throw notOurs();
  return value;
}
