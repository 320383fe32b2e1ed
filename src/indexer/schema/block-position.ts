/**
 * Rows inside a block are keyed by one integer made of the block number and the position in the block.
 * The key is therefore the chain order, every secondary index ends in it at no cost, and a block's rows are one range.
 * 2^33 block numbers and 2^20 positions fill the 53 bits that a JavaScript number holds exactly.
 */
export const KEYS_PER_BLOCK = 2 ** 20;

/** Greater than every key: the cursor of a first page. */
export const LAST_KEY = Number.MAX_SAFE_INTEGER;

/** Position on the chain. Newest first means both fields descending. */
export interface BlockPosition {
  blockNumber: number;
  /** Index in the block, from 0, among rows of the same kind. */
  index: number;
}

/**
 * Key of a position.
 * @throws RangeError for a position outside the key's range
 */
export function positionKey({ blockNumber, index }: BlockPosition): number {
  if (index < 0 || index >= KEYS_PER_BLOCK || blockNumber < 0 || blockNumber >= 2 ** 33) {
    throw new RangeError(`Position out of range: block ${blockNumber}, index ${index}.`);
  }
  return blockNumber * KEYS_PER_BLOCK + index;
}

export function positionOf(key: number): BlockPosition {
  return { blockNumber: Math.floor(key / KEYS_PER_BLOCK), index: key % KEYS_PER_BLOCK };
}

/** Lowest key of a block. The next block's lowest key ends the block's range. */
export function blockStart(blockNumber: number): number {
  return positionKey({ blockNumber, index: 0 });
}
