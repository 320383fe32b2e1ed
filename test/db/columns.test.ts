import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesColumn, hexOf, uintColumn, uintOf } from '../../src/db/columns.ts';

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

test('every unsigned 256-bit integer is read back exactly', () => {
  fc.assert(fc.property(uint256, value => uintOf(uintColumn(value)) === value));
});

test('integers as text sort by amount', () => {
  const near = fc
    .tuple(uint256, fc.bigInt({ min: -20n, max: 20n }))
    .map(([a, d]) => [a, a + d < 0n ? 0n : a + d]);
  fc.assert(
    fc.property(fc.oneof(near, fc.array(uint256, { minLength: 2, maxLength: 2 })), ([a = 0n, b = 0n]) => {
      if (b >= 2n ** 256n) return true;
      return uintColumn(a) < uintColumn(b) === a < b;
    }),
  );
});

test('negative and too long values are refused', () => {
  expect(() => uintColumn(-1n)).toThrow(RangeError);
  expect(() => uintColumn(10n ** 78n)).toThrow(RangeError);
});

test('hex is read back in lower case', () => {
  expect(hexOf(bytesColumn('0xABcd'))).toBe('0xabcd');
  expect(hexOf(bytesColumn('0x'))).toBe('0x');
});
