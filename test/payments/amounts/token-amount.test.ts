import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountText, tokenAmount, unitsOf } from '#payments/amounts/token-amount.ts';

test.each([
  [12_500_000n, 6, '12.5'],
  [1n, 6, '0.000001'],
  [1n, 18, '0.000000000000000001'],
  [5_000_000n, 6, '5'],
  [100n, 0, '100'],
  [0n, 6, '0'],
  [2n ** 256n - 1n, 0, String(2n ** 256n - 1n)],
])('%s units at %s decimals are written %s', (units, decimals, text) => {
  expect(tokenAmount(units, decimals)).toBe(text);
});

test('an amount has its symbol behind it', () => {
  expect(amountText(12_500_000n, { symbol: 'USDC', decimals: 6 })).toBe('12.5 USDC');
});

test('what is written in tokens reads as the same units, whatever the decimals', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.integer({ min: 0, max: 255 }),
      (units, decimals) => {
        expect(unitsOf(tokenAmount(units, decimals), decimals)).toBe(units);
      },
    ),
  );
});

test.each([
  ['12.5', 12_500_000n],
  ['12,5', 12_500_000n],
  [' 7 ', 7_000_000n],
  ['.5', 500_000n],
  ['5.', 5_000_000n],
  ['0.0000010', 1n],
])('%j is typed for %s units of 6 decimals', (text, units) => {
  expect(unitsOf(text, 6)).toBe(units);
});

test.each(['', '.', '-1', '+1', '1e3', '1.2.3', '1 000', '0x10', '0.0000001', 'ten', '9'.repeat(80)])(
  '%j is no amount of 6 decimals',
  text => {
    expect(unitsOf(text, 6)).toBeUndefined();
  },
);
