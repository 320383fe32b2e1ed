import { type Address, type Hash, isAddress, isHash } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { TracePlace } from '#indexer/read/blocks/internal-transactions.ts';
import type { BlockPosition } from '#indexer/schema/block-position.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';

/** Cursor keys as they came: from our own cursor, else from the document's query parameters. */
export type Keys = Readonly<Record<string, unknown>>;

/** Heights and places beyond these exist on no chain, so a list before one starts at its beginning. */
const HIGHEST_BLOCK = 2 ** 33 - 1;
const LAST_INDEX = 2 ** 20 - 1;

/** Every key of a position that the document has for the lists by block number and index, and for pending ones. */
const POSITION_KEYS = [
  'block_number',
  'index',
  'inserted_at',
  'hash',
  'transaction_index',
  'batch_log_index',
  'batch_block_hash',
  'batch_transaction_hash',
  'index_in_batch',
] as const;

/**
 * Where a list by block number and index goes on; undefined at its start. Decision 4: the keys belong together.
 * @throws BackendError `rejected` when some are given and these two are not among them.
 */
export function placeBefore(position: CursorPosition | undefined, query: Keys): BlockPosition | undefined {
  const keys = wholeKeys({ position, query }, ['block_number', 'index'], POSITION_KEYS);
  if (keys === undefined) return undefined;
  const { block_number: blockNumber, index } = keys;
  if (!isHeight(blockNumber) || !isHeight(index)) throw notOurs();
  return blockNumber > HIGHEST_BLOCK ? undefined : { blockNumber, index: Math.min(index, LAST_INDEX) };
}

/** Where a list of blocks goes on. The hash tells orphaned blocks of one height apart. */
export function blockBefore(
  position: CursorPosition | undefined,
  query: Keys,
): { number: number; hash?: Hash } | undefined {
  const { block_number: number, block_hash: hash } = position ?? query;
  if (number === undefined && position === undefined) return undefined;
  if (!isHeight(number)) throw notOurs();
  return typeof hash === 'string' && isHash(hash) ? { number, hash } : { number };
}

/**
 * Where the list of pending transactions goes on: behind this hash.
 * @throws BackendError `rejected` when other keys are given without it.
 */
export function hashBefore(position: CursorPosition | undefined, query: Keys): Hash | undefined {
  const keys = wholeKeys({ position, query }, ['hash'], POSITION_KEYS);
  if (keys === undefined) return undefined;
  const { hash } = keys;
  const lower = typeof hash === 'string' ? hash.toLowerCase() : '';
  if (!isHash(lower)) throw notOurs();
  return lower;
}

/** Whether a cursor's key is a number that counts something. */
export function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** What to throw for a cursor whose keys are not what we write. */
export function notOurs(): BackendError {
  return new BackendError(
    'rejected',
    'bad_input',
    'cursor: must be the cursor of an earlier page of this list',
  );
}

/**
 * Where a list of internal transactions goes on; undefined at its start. Decision 4: the keys belong together.
 * @throws BackendError `rejected` when some are given and these three are not among them.
 */
export function tracePlace(position: CursorPosition | undefined, query: Keys): TracePlace | undefined {
  const needed = ['block_number', 'transaction_index', 'index'];
  const keys = wholeKeys({ position, query }, needed, POSITION_KEYS);
  if (keys === undefined) return undefined;
  const { block_number: blockNumber, transaction_index: transactionIndex, index: traceIndex } = keys;
  if (!isHeight(blockNumber) || !isHeight(transactionIndex) || !isHeight(traceIndex)) throw notOurs();
  if (blockNumber >= HIGHEST_BLOCK) return undefined;
  return { blockNumber, transactionIndex: Math.min(transactionIndex, LAST_INDEX), traceIndex };
}

/**
 * Where the list of a block's internal transactions goes on; undefined at its start.
 * @throws BackendError `rejected` when one of the two keys is given without the other.
 */
export function callAfter(
  position: CursorPosition | undefined,
  query: Keys,
): Omit<TracePlace, 'blockNumber'> | undefined {
  const keys = wholeKeys({ position, query }, ['transaction_index', 'index']);
  if (keys === undefined) return undefined;
  const { transaction_index: transactionIndex, index: traceIndex } = keys;
  if (!isHeight(transactionIndex) || !isHeight(traceIndex)) throw notOurs();
  return { transactionIndex: Math.min(transactionIndex, LAST_INDEX), traceIndex };
}

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
  const given = [...others, ...needed].find(name => keys[name] !== undefined);
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
