import type { Hash } from 'viem';
import { isHash } from 'viem';
import type { Place } from '../../../indexer/place.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { CursorPosition } from '../../port/cursor.ts';

/** Cursor keys as they came: from our own cursor, else from the document's query parameters. */
export type Keys = Readonly<Record<string, unknown>>;

/** Heights and places beyond these exist on no chain, so a list before one starts at its beginning. */
const HIGHEST_BLOCK = 2 ** 33 - 1;
const LAST_INDEX = 2 ** 20 - 1;

/**
 * Where a list by block number and index goes on; undefined at its start. Decision 4: the keys belong together.
 * @throws BackendError `rejected` when only one of them is given.
 */
export function placeBefore(position: CursorPosition | undefined, query: Keys): Place | undefined {
  const { block_number: blockNumber, index } = position ?? query;
  if (blockNumber === undefined && index === undefined) return undefined;
  if (blockNumber === undefined) throw missing('block_number', 'index');
  if (index === undefined) throw missing('index', 'block_number');
  if (!isHeight(blockNumber) || !isHeight(index)) throw notOurs();
  return blockNumber > HIGHEST_BLOCK ? undefined : { blockNumber, index: Math.min(index, LAST_INDEX) };
}

/** Where a list of blocks goes on. The hash tells orphaned blocks of one height apart. */
export function blockBefore(
  position: CursorPosition | undefined,
  query: Keys,
): { number: number; hash?: Hash } | undefined {
  const { block_number: number, block_hash: hash } = position ?? query;
  if (number === undefined) return undefined;
  if (!isHeight(number)) throw notOurs();
  return typeof hash === 'string' && isHash(hash) ? { number, hash } : { number };
}

/** Where the list of pending transactions goes on: behind this hash. */
export function hashBefore(position: CursorPosition | undefined, query: Keys): Hash | undefined {
  const { hash } = position ?? query;
  if (hash === undefined) return undefined;
  if (typeof hash !== 'string' || !isHash(hash)) throw notOurs();
  return hash;
}

function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function missing(name: string, other: string): BackendError {
  return new BackendError('rejected', 'bad_input', `${name}: must be given together with ${other}`);
}

function notOurs(): BackendError {
  return new BackendError(
    'rejected',
    'bad_input',
    'cursor: must be the cursor of an earlier page of this list',
  );
}
