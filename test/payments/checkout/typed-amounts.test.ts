import fc from 'fast-check';
import { formatUnits } from 'viem';
import { expect, test } from 'vitest';
import { plainUnits, smallestUnits } from '#pages/browser/amounts.ts';

test('an amount formatted in tokens parses back to the same units, for any decimals', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.integer({ min: 0, max: 255 }),
      (units, decimals) => {
        expect(smallestUnits(formatUnits(units, decimals), decimals)).toBe(units);
      },
    ),
  );
});

test('pages and wallet messages format amounts alike', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat({ max: 255 }), (units, decimals) => {
      expect(plainUnits(units, decimals)).toBe(formatUnits(units, decimals));
    }),
  );
});

test.each([
  ['12.5', 12_500_000n],
  ['12,5', 12_500_000n],
  [' 7 ', 7_000_000n],
  ['.5', 500_000n],
  ['5.', 5_000_000n],
  ['0.0000010', 1n],
])('typing %j means %s units of 6 decimals', (text, units) => {
  expect(smallestUnits(text, 6)).toBe(units);
});

test.each(['', '.', '-1', '+1', '1e3', '1.2.3', '1 000', '0x10', '0.0000001', 'ten'])(
  '%j is refused as an amount of 6 decimals',
  text => {
    expect(smallestUnits(text, 6)).toBeUndefined();
  },
);
