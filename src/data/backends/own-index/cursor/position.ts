import type { Hash } from 'viem';
import { isHash } from 'viem';
import type { BlockPosition } from '#indexer/schema/block-position.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';

/** Cursor keys as they came: from our own cursor, else from the document's query parameters. */
export type Keys = Readonly<Record<string, unknown>>;

/** Heights and places beyond these exist on no chain, so a list before one starts at its beginning. */
export const HIGHEST_BLOCK = 2 ** 33 - 1;
export const LAST_INDEX = 2 ** 20 - 1;

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
  const { block_number: blockNumber, index } = together(position, query, ['block_number', 'index']);
  if (blockNumber === undefined && index === undefined) return undefined;
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
  const { hash } = together(position, query, ['hash']);
  if (hash === undefined) return undefined;
  const lower = typeof hash === 'string' ? hash.toLowerCase() : '';
  if (!isHash(lower)) throw notOurs();
  return lower;
}

/**
 * The needed keys, all of them or none.
 * @throws BackendError `rejected` when some are given but not all.
 */
export function together(position: CursorPosition | undefined, query: Keys, needed: readonly string[]): Keys {
  const keys = position ?? query;
  const lost = needed.find(name => keys[name] === undefined);
  if (lost === undefined) return keys;
  if (position !== undefined) throw notOurs();
  const given = POSITION_KEYS.find(name => keys[name] !== undefined);
  if (given !== undefined) throw missing(lost, given);
  return {};
}

/** Whether a cursor's key is a number that counts something. */
export function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function missing(name: string, other: string): BackendError {
  return new BackendError('rejected', 'bad_input', `${name}: must be given together with ${other}`);
}

/** What to throw for a cursor whose keys are not what we write. */
export function notOurs(): BackendError {
  return new BackendError(
    'rejected',
    'bad_input',
    'cursor: must be the cursor of an earlier page of this list',
  );
}
