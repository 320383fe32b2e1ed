import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numberOf, percentChange } from '#data/backends/own-index/insights/ratio.ts';

const uint256 = fc.bigInt({ min: 1n, max: 2n ** 256n - 1n });

test.each([
  [{ value: 5n, over: 2n }, 2.5],
  [{ value: -1n, over: 8n }, -0.125],
  [{ value: 0n, over: 7n }, 0],
  [{ value: 1n, over: 3n }, 1 / 3],
  [{ value: 2n ** 112n * 10n ** 255n, over: 1n }, 2 ** 112 * 1e255],
  [{ value: 1n, over: 10n ** 289n }, 1e-289],
])('a fraction is the nearest double: %o', (ratio, expected) => {
  expect(numberOf(ratio)).toBe(expected);
});

test('a ratio of any two integers is the nearest double', () => {
  fc.assert(
    fc.property(uint256, uint256, (value, over) => {
      const number = numberOf({ value, over });
      expect(Math.abs(number / (Number(value) / Number(over)) - 1)).toBeLessThan(2 ** -50);
    }),
  );
});

test('a whole number of any size rounds as in JavaScript', () => {
  fc.assert(
    fc.property(uint256, fc.bigInt({ min: 1n, max: 10n ** 30n }), (value, factor) => {
      expect(numberOf({ value: value * factor, over: factor })).toBe(Number(value));
    }),
  );
});

test('a change is in percent of the earlier value', () => {
  const [before, now] = [
    { value: 8n, over: 2n },
    { value: 5n, over: 1n },
  ] as const;

  expect(percentChange(now, before)).toBe(25);
  expect(percentChange(before, now)).toBe(-20);
  expect(percentChange(now, now)).toBe(0);
});
