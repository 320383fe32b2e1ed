/**
 * Everything inside a block is keyed by one integer made of the block's number and the place in the block.
 * So the key is the order, every secondary index ends in it for free, and a block's rows are one range.
 * 2^33 block numbers and 2^20 places fill the 53 bits that a JavaScript number holds exactly.
 */
const PLACES_PER_BLOCK = 2 ** 20;

/** Greater than every key: the cursor of a first page. */
export const LAST_PLACE = Number.MAX_SAFE_INTEGER;

/** Where something is: newest first means both descending. */
export interface BlockPosition {
  blockNumber: number;
  /** Position in the block, counted from 0, of this kind of thing. */
  index: number;
}

/** The key of a place. @throws RangeError for what no chain has. */
export function positionKey({ blockNumber, index }: BlockPosition): number {
  if (index < 0 || index >= PLACES_PER_BLOCK || blockNumber < 0 || blockNumber >= 2 ** 33) {
    throw new RangeError(`No such place: block ${blockNumber}, index ${index}.`);
  }
  return blockNumber * PLACES_PER_BLOCK + index;
}

export function positionOf(key: number): BlockPosition {
  return { blockNumber: Math.floor(key / PLACES_PER_BLOCK), index: key % PLACES_PER_BLOCK };
}

/** The lowest key of a block; with the next block's it bounds the block's rows. */
export function blockStart(blockNumber: number): number {
  return positionKey({ blockNumber, index: 0 });
}
