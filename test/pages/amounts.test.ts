import fc from 'fast-check';
import { expect, test } from 'vitest';
import { commaAdvice, decimalsIn, grouped, smallestUnits, wholeUnits } from '#pages/browser/amounts.ts';

test('an amount is shown exactly, without trailing zeros', () => {
  expect(wholeUnits('1234500000', 6)).toBe('1,234.5');
  expect(wholeUnits('1', 18)).toBe('0.000000000000000001');
  expect(wholeUnits('0', 18)).toBe('0');
  expect(wholeUnits('12', 0)).toBe('12');
  expect(wholeUnits('-1500000', 6)).toBe('−1.5');
});

test('a shown amount is read back as the same amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.nat({ max: 77 }), (units, decimals) => {
      expect(smallestUnits(wholeUnits(units, decimals).replaceAll(',', ''), decimals)).toBe(units);
    }),
  );
});

test('text that is not an amount, or has too many decimals, is refused', () => {
  for (const text of ['', '.', '1.2.3', '-1', '1e3', 'abc', '0.1234567']) {
    expect(smallestUnits(text, 6)).toBeUndefined();
  }
});

test('an amount whose comma may separate thousands is refused, with advice on the notation', () => {
  for (const text of ['1,000', ' 12,345 ', '1,234,567', '1,000.5']) {
    expect(smallestUnits(text, 6)).toBeUndefined();
  }
  expect(commaAdvice('1,000')).toBe('Write 1000, or 1.000 with a point.');
  expect(commaAdvice('1,234,567')).toBe('Write 1234567, without commas.');
  expect(commaAdvice('1,000.5')).toBe('Write 1000.5, without commas.');
});

test('a comma that cannot separate thousands is a decimal point', () => {
  for (const text of ['0,5', '0,500', ',5']) expect(smallestUnits(text, 6)).toBe(500_000n);
  expect(smallestUnits('1,5', 6)).toBe(1_500_000n);
  expect(smallestUnits('1234,500', 6)).toBe(1_234_500_000n);
  expect(commaAdvice('0,500')).toBeUndefined();
});

test('whole numbers of any size have separators', () => {
  expect(grouped(1234567)).toBe('1,234,567');
  expect(grouped('340282366920938463463374607431768211456')).toBe(
    '340,282,366,920,938,463,463,374,607,431,768,211,456',
  );
  expect(grouped(12)).toBe('12');
});

test('an invalid number of decimals leaves an amount undivided', () => {
  expect(decimalsIn('18')).toBe(18);
  for (const text of [null, '', '256', '1000000000000', '-1', '1.5', 'six']) expect(decimalsIn(text)).toBe(0);
});
