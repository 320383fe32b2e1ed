import { bytesColumn } from '../../db/columns.ts';

const BYTES = 256;

/**
 * Encodes a bloom filter for a column: the numbers of its bits that are set, two bytes each. That of a transaction has
 * few. A filter for which this is not shorter is stored as it is. Bits are numbered as by PostgreSQL's `set_bit`.
 */
export function bloomColumn(bloom: Buffer): Buffer {
  const set: number[] = [];
  for (const [at, byte] of bloom.entries()) {
    if (byte === 0) continue;
    for (let bit = 0; bit < 8; bit += 1) if ((byte & (1 << bit)) !== 0) set.push(at, bit);
  }
  if (bloom.length !== BYTES || set.length >= BYTES) return bloom;
  const numbers = Buffer.alloc(set.length);
  for (let at = 0; at < set.length; at += 2) {
    numbers.writeUInt16BE(8 * (set[at] ?? 0) + (set[at + 1] ?? 0), at);
  }
  return numbers;
}

/** Same for a filter from a node. */
export function bloomOrNullColumn(bloom: string | null | undefined): Buffer | null {
  return bloom === null || bloom === undefined ? null : bloomColumn(bytesColumn(bloom));
}

/** Decodes the result of `bloomColumn`. */
export function bloomOf(column: Buffer): Buffer {
  if (column.length >= BYTES) return column;
  const bloom = Buffer.alloc(BYTES);
  for (let at = 0; at < column.length; at += 2) {
    const bit = column.readUInt16BE(at);
    bloom[bit >> 3] = (bloom[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return bloom;
}
