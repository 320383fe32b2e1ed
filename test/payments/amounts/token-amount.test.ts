import { expect, test } from 'vitest';
import { amountText } from '#payments/amounts/token-amount.ts';

test.each([
  [12_500_000n, 6, '12.5'],
  [1n, 6, '0.000001'],
  [1n, 18, '0.000000000000000001'],
  [5_000_000n, 6, '5'],
  [100n, 0, '100'],
  [0n, 6, '0'],
  [2n ** 256n - 1n, 0, String(2n ** 256n - 1n)],
])('%s units at %s decimals are written %s', (units, decimals, text) => {
  expect(amountText(units, { symbol: 'USDC', decimals })).toBe(`${text} USDC`);
});
