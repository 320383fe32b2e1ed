import { expect, test } from 'vitest';
import { bloomColumn, bloomOf } from '#indexer/schema/bloom.ts';

/** A filter with this many bits set, spread over its length. */
function filterOf(bits: number): Buffer {
  const bloom = Buffer.alloc(256);
  for (let bit = 0; bit < bits; bit += 1) {
    const at = (bit * 37) % 2048;
    bloom[at >> 3] = (bloom[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return bloom;
}

test.each([0, 1, 15, 127, 128, 129, 2048])('a filter with %i bits set is read as it was written', bits => {
  const bloom = filterOf(bits);

  const column = bloomColumn(bloom);

  expect(bloomOf(column)).toEqual(bloom);
  expect(column).toHaveLength(Math.min(2 * bits, 256));
});
