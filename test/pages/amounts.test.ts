import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  commaAdvice,
  countText,
  decimalsIn,
  grouped,
  inOwnMarks,
  numberMarks,
  percentText,
  shortUnits,
  smallestUnits,
  typedUnits,
  wholeUnits,
} from '#pages/browser/amounts.ts';

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
  expect(commaAdvice('1,000')).toBe('Is 1,000 meant as 1000 or as 1? Write 1000 or 1.');
  expect(commaAdvice('1,250')).toBe('Is 1,250 meant as 1250 or as 1.25? Write 1250 or 1.25.');
  expect(commaAdvice('1,234,567')).toBe('Write 1234567, without separators of thousands.');
  expect(commaAdvice('1,000.5')).toBe('Write 1000.5, without separators of thousands.');
});

test('a comma that cannot separate thousands is a decimal point', () => {
  for (const text of ['0,5', '0,500', ',5']) expect(smallestUnits(text, 6)).toBe(500_000n);
  expect(smallestUnits('1,5', 6)).toBe(1_500_000n);
  expect(smallestUnits('1234,500', 6)).toBe(1_234_500_000n);
  expect(commaAdvice('0,500')).toBeUndefined();
});

test('in a locale with a decimal comma a point may separate thousands, and numbers are shown its way', () => {
  const german = numberMarks('de-DE');

  expect(numberMarks('en-US')).toEqual({ decimal: '.', group: ',' });
  expect(smallestUnits('2.000', 6, german)).toBeUndefined();
  expect(commaAdvice('2.000', german)).toBe('Is 2.000 meant as 2000 or as 2? Write 2000 or 2.');
  expect(commaAdvice('1.250', german)).toBe('Is 1.250 meant as 1250 or as 1,25? Write 1250 or 1,25.');
  expect(smallestUnits('2,000', 6, german)).toBe(2_000_000n);
  expect(smallestUnits('2.5', 6, german)).toBe(2_500_000n);
  expect(inOwnMarks('1,234,567.5', german)).toBe('1.234.567,5');
  expect(countText(1_234, german)).toBe('1.234');
  expect(percentText(0.1249, german)).toBe('12,5 %');
  expect(smallestUnits(typedUnits(1_234_000n, 6, german), 6, german)).toBe(1_234_000n);
});

test('whole numbers of any size have separators', () => {
  expect(grouped(1234567)).toBe('1,234,567');
  expect(grouped('340282366920938463463374607431768211456')).toBe(
    '340,282,366,920,938,463,463,374,607,431,768,211,456',
  );
  expect(grouped(12)).toBe('12');
});

test('decimals that no token needs are unknown', () => {
  expect([decimalsIn('18'), decimalsIn('36'), decimalsIn(null), decimalsIn('')]).toEqual([18, 36, 0, 0]);
  for (const text of ['37', '255', '1000000000000', '-1', '1.5', 'six'])
    expect(decimalsIn(text)).toBeUndefined();
});

describe('a short amount', () => {
  test.each([
    ['469955752647066', 18, '0.000469955…'],
    ['469955000000000', 18, '0.000469955'],
    ['1234500000', 6, '1,234.5'],
    ['1234567890', 6, '1,234.56…'],
    ['123456789012', 6, '123,456.…'],
    ['1000000500000000000', 18, '1.00000…'],
    ['999999999999999', 0, '999,999,999,999,999'],
    ['1000000000000000', 0, '1×10¹⁵'],
    [String(2n ** 256n - 1n), 18, '1.15792…×10⁵⁹'],
    ['1', 18, '1×10⁻¹⁸'],
    ['1000000000', 18, '0.000000001'],
    ['-1500000000000000001', 18, '−1.50000…'],
    ['0', 18, '0'],
  ])('of %s at %i decimals is %s', (amount, decimals, short) => {
    expect(shortUnits(amount, decimals)).toBe(short);
  });

  const amount = fc.bigInt({ min: -(10n ** 120n), max: 10n ** 120n });
  const decimals = fc.integer({ min: 0, max: 36 });

  test('has an ellipsis exactly if digits are left out, and is at most the amount, by less than one of its last digit', () => {
    fc.assert(
      fc.property(amount, decimals, (units, places) => {
        const short = shortUnits(units, places);
        const shown = unitsOf(short, places);
        const size = units < 0n ? -units : units;

        expect(short.includes('…')).toBe(shown.units !== size);
        expect(shown.units <= size && size - shown.units < shown.lastDigit).toBe(true);
      }),
    );
  });

  test('shows six significant digits or all of them, within 24 characters', () => {
    fc.assert(
      fc.property(amount, decimals, (units, places) => {
        const short = shortUnits(units, places);
        const digits = (short.split('×')[0] ?? '').replace(/[^\d]/g, '').replace(/^0+/, '');

        expect(short.length).toBeLessThanOrEqual(24);
        if (short.includes('…')) expect(digits.length).toBeGreaterThanOrEqual(6);
      }),
    );
  });

  test('of amounts with other signs, or of another power of ten, differs', () => {
    fc.assert(
      fc.property(amount, fc.nat({ max: 60 }), decimals, (units, zeros, places) => {
        fc.pre(units !== 0n);

        expect(shortUnits(units, places)).not.toBe(shortUnits(-units, places));
        expect(shortUnits(units, places)).not.toBe(shortUnits(units * 10n ** BigInt(zeros + 1), places));
      }),
    );
  });
});

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Reads a short amount without its sign: the smallest units of the digits shown, and those of one of the last digit. */
function unitsOf(short: string, decimals: number): { units: bigint; lastDigit: bigint } {
  const [mantissa = '', exponent = ''] = short.replace(/[−,…]/g, '').split('×10');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const power = [...exponent].map(one => (one === '⁻' ? '-' : SUPERSCRIPTS.indexOf(one))).join('');
  const places = decimals + Number(power) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (places >= 0) return { units: digits * 10n ** BigInt(places), lastDigit: 10n ** BigInt(places) };
  return { units: digits / 10n ** BigInt(-places), lastDigit: 1n };
}
