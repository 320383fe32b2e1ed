import { type Address, type Hash, isAddress, isHash } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { TracePosition } from '#indexer/read/blocks/internal-transactions.ts';
import type { TransferPosition } from '#indexer/read/tokens/transfer-position.ts';
import type { BlockPosition } from '#indexer/schema/block-position.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';

/** Unvalidated cursor keys, from our own cursor or else from the document's query parameters. */
export type Keys = Readonly<Record<string, unknown>>;

/** Upper bounds of positions on any chain. A list before a higher position starts at its beginning. */
const HIGHEST_BLOCK = 2 ** 33 - 1;
const LAST_INDEX = 2 ** 20 - 1;
/** The next index is the last one that PostgreSQL compares with the column. */
const LAST_TRACE_INDEX = 2 ** 31 - 2;

/** Document's position keys of lists by block number and index, and of pending transactions. */
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
 * Reads the position of a list by block number and index; undefined at its start. The keys belong together (Decision
 * 4).
 * @throws BackendError `rejected` when some keys are given without these two.
 */
export function blockPositionBefore(
  position: CursorPosition | undefined,
  query: Keys,
): BlockPosition | undefined {
  const keys = wholeKeys({ position, query }, ['block_number', 'index'], POSITION_KEYS);
  if (keys === undefined) return undefined;
  const { block_number: blockNumber, index } = keys;
  if (!isHeight(blockNumber) || !isHeight(index)) throw notOurs();
  return blockNumber > HIGHEST_BLOCK ? undefined : { blockNumber, index: Math.min(index, LAST_INDEX) };
}

/**
 * Reads the position of a list of token transfers; undefined at its start. `batchIndex` is the place inside an ERC-1155
 * batch, and undefined where no page ended inside one.
 * @throws BackendError as `blockPositionBefore`
 */
export function transferPosition(
  position: CursorPosition | undefined,
  query: Keys,
): TransferPosition | undefined {
  const isOfTransfers = (name: string) => TRANSFER_KEYS.includes(name);
  if (position !== undefined && !Object.keys(position).every(isOfTransfers)) throw notOurs();
  const log = blockPositionBefore(position, query);
  if (log === undefined) return undefined;
  const { index_in_batch: batchIndex } = position ?? query;
  if (batchIndex !== undefined && !isHeight(batchIndex)) throw notOurs();
  return { blockNumber: log.blockNumber, logIndex: log.index, batchIndex };
}

const TRANSFER_KEYS: readonly string[] = ['block_number', 'index', 'batch_log_index', 'index_in_batch'];

/** Reads the position of a list of blocks. The hash distinguishes orphaned blocks of one height. */
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
 * Reads the position of the list of pending transactions, the last hash.
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

/** True for a non-negative integer. */
export function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Error for a cursor with keys that we do not write. */
export function notOurs(): BackendError {
  return new BackendError(
    'rejected',
    'bad_input',
    'cursor: must be the cursor of an earlier page of this list',
  );
}

/**
 * Reads the position of a list of internal transactions; undefined at its start. The keys belong together (Decision 4).
 * @throws BackendError `rejected` when some keys are given without these three.
 */
export function tracePosition(position: CursorPosition | undefined, query: Keys): TracePosition | undefined {
  const needed = ['block_number', 'transaction_index', 'index'];
  const keys = wholeKeys({ position, query }, needed, POSITION_KEYS);
  if (keys === undefined) return undefined;
  const { block_number: blockNumber } = keys;
  if (!isHeight(blockNumber)) throw notOurs();
  const withinBlock = callPosition(keys);
  return blockNumber >= HIGHEST_BLOCK ? undefined : { blockNumber, ...withinBlock };
}

/**
 * Reads the position of the list of a block's internal transactions; undefined at its start.
 * @throws BackendError `rejected` when one of the two keys is given without the other.
 */
export function callAfter(
  position: CursorPosition | undefined,
  query: Keys,
): Omit<TracePosition, 'blockNumber'> | undefined {
  const keys = wholeKeys({ position, query }, ['transaction_index', 'index']);
  return keys && callPosition(keys);
}

function callPosition({ transaction_index: transactionIndex, index: traceIndex }: Keys) {
  if (!isHeight(transactionIndex) || !isHeight(traceIndex)) throw notOurs();
  return {
    transactionIndex: Math.min(transactionIndex, LAST_INDEX),
    traceIndex: Math.min(traceIndex, LAST_TRACE_INDEX),
  };
}

/** Upper bound of uint256, because a 78-digit number may exceed it. */
const UINT256_END = 1n << 256n;

/**
 * Returns the keys of a position; undefined at the list's start. `others` are optional keys of the list. The needed
 * keys belong together (Decision 4).
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

/** @throws BackendError `rejected` for any value but an address. */
export function cursorAddress(value: unknown): Address {
  if (typeof value !== 'string' || !isAddress(value, { strict: false })) throw notOurs();
  return lowerCase(value);
}

/** Reads a decimal integer below 2^256. @throws BackendError `rejected` for any other value, `null` included. */
export function uintKey(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) throw notOurs();
  const number = BigInt(value);
  if (number >= UINT256_END) throw notOurs();
  return number;
}

/** @throws BackendError `rejected` for any value but a count. */
export function countKey(value: unknown): number {
  if (!isHeight(value)) throw notOurs();
  return value;
}
