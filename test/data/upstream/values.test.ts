import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as values from '#data/backends/upstream-json/values.ts';

const numeric = fc.oneof(
  fc.bigInt(),
  fc.bigInt({ min: 0n, max: 10n ** 500n }),
  fc.double(),
  fc.stringMatching(/^[+-]?\d{1,90}(\.\d{0,9})?([eE][+-]?\d{1,4})?$/),
);
const anyValue = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }),
  numeric,
  fc.stringMatching(/^0x[0-9a-fA-F]{0,66}$/),
  fc.stringMatching(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{0,9})?(Z|\+00:00)?$/),
);

/** Guarantee of each reader about an accepted value. */
const READERS: Readonly<
  Record<string, readonly [read: (value: unknown) => unknown, holds: (value: unknown) => boolean]>
> = {
  text: [values.textOrNull, value => typeof value === 'string'],
  boolean: [values.booleanOrNull, value => typeof value === 'boolean'],
  bigint: [values.bigintOrNull, value => typeof value === 'bigint'],
  natural: [values.naturalOrNull, value => /^(0|[1-9]\d{0,77})$/.test(String(value))],
  signed: [values.signedOrNull, value => /^(0|-?[1-9]\d{0,77})$/.test(String(value))],
  decimal: [values.decimalOrNull, value => /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(String(value))],
  integer: [values.integerOrNull, value => Number.isSafeInteger(value)],
  number: [values.numberOrNull, value => Number.isFinite(value)],
  timestamp: [
    values.timestampOrNull,
    value => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(String(value)),
  ],
  hash: [values.hashOrNull, value => /^0x[0-9a-f]{64}$/.test(String(value))],
  address: [values.addressHashOrNull, value => /^0x[0-9a-fA-F]{40}$/.test(String(value))],
  hex: [values.hexOrNull, value => /^0x([0-9a-fA-F]{2})*$/.test(String(value))],
};

test.for(Object.entries(READERS))(
  '%s: any value is read as promised or refused, without an exception',
  ([, [read, holds]]) => {
    fc.assert(
      fc.property(anyValue, value => {
        const result = read(value);
        expect(result === null || holds(result)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  },
);

test('reading a read value again returns the same value', () => {
  fc.assert(
    fc.property(anyValue, value => {
      for (const [read] of Object.values(READERS)) {
        const once = read(value);
        if (once !== null) expect(read(once)).toEqual(once);
      }
    }),
  );
});

test('an integer is the same from a bigint, digits or a number', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }), value => {
      expect(values.bigintOrNull(value)).toBe(value);
      expect(values.bigintOrNull(value.toString())).toBe(value);
      expect(values.signedOrNull(value)).toBe(value.toString());
      expect(values.naturalOrNull(value)).toBe(value < 0n ? null : value.toString());
    }),
  );
  fc.assert(
    fc.property(fc.maxSafeInteger(), value => {
      expect(values.bigintOrNull(value)).toBe(BigInt(value));
      expect(values.integerOrNull(String(value))).toBe(value);
    }),
  );
});

test.for([
  ['text', 12n, '12'],
  ['text', 1.5, '1.5'],
  ['text', Number.POSITIVE_INFINITY, null],
  ['boolean', 'true', true],
  ['boolean', 1, null],
  ['bigint', '2.0e3', 2000n],
  ['bigint', '+5.000', 5n],
  ['bigint', '0x10', null],
  ['bigint', '', null],
  ['natural', 2000.0, '2000'],
  ['natural', '007', '7'],
  ['natural', '-0', '0'],
  ['natural', '1'.repeat(79), null],
  ['decimal', '1,5', null],
  ['decimal', 1e-7, '1e-7'],
  ['integer', 9007199254740992n, null],
  ['integer', '9007199254740993', null],
  ['number', 10n ** 309n, null],
  ['number', '1e999', null],
  ['number', '12.5', 12.5],
  ['timestamp', '2024-05-04T12:00:00Z', '2024-05-04T12:00:00.000000Z'],
  ['timestamp', '2024-05-04 12:00:00.123456789', '2024-05-04T12:00:00.123456Z'],
  ['timestamp', '2024-05-04T12:00:00+02:00', null],
  ['hash', `0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
  ['address', `0x${'Ab'.repeat(20)}`, `0x${'Ab'.repeat(20)}`],
  ['hex', '0x', '0x'],
  ['hex', '0xabc', null],
] as const)('%s: %s is %s', ([name, value, expected]) => {
  expect(READERS[name]?.[0](value)).toEqual(expected);
});
