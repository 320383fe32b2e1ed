import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, withoutExponent } from '#lib/json-text/lossless-json.ts';
import { record } from '../lab/json.ts';

const isBeyondDouble = (value: bigint) =>
  value > BigInt(Number.MAX_SAFE_INTEGER) || value < -BigInt(Number.MAX_SAFE_INTEGER);
const big = fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }).filter(isBeyondDouble);
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ':1234567890123456789',
    ',1e5',
    '[1e30]',
    '\\',
    '"',
    '[12345678901234567890,"1e30"]',
    '\\",1e30,',
  ),
);
/** V8 confuses an escaped key with the key `\` of a previously parsed object, with a reviver or without. */
const key = text.filter(name => name !== '\\');
const small = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter(value => Math.abs(value) < 2 ** 53),
);

const { value: anyJson } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(big, small, text, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}));

/** JSON text of a value with bigints, with white space where JSON allows it. */
function written(value: unknown, space: string): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value))
    return `[${space}${value.map(one => written(one, space)).join(`,${space}`)}${space}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(
      ([name, one]) => `${JSON.stringify(name)}${space}:${space}${written(one, space)}`,
    );
    return `{${pairs.join(`${space},`)}}`;
  }
  return JSON.stringify(value);
}

/** JSON.stringify writes -0 as 0. */
function positiveZero(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(positiveZero);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, positiveZero(one)]));
  return value;
}

test('any JSON value survives, with integers of any size in any place', () => {
  fc.assert(
    fc.property(anyJson, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
      expect(parseJson(written(value, space))).toEqual(positiveZero(value));
    }),
    { numRuns: 500 },
  );
});

const pieces = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"', '\\"', 'x\\\\', ' ', '\n', '\u00a0', '-', 'null', '"a"', '"a":'],
  ...['1', '1e30', '1.e30', '01e30', '-1e3', '1e-7', '12345678901234567890', '12345678901234567890.5'],
  ...['012345678901234567890', '9007199254740992', '[1e30,12345678901234567890]', '{"a":[1e30],"b":"'],
);

test('any text is parsed as by JSON.parse, except for integers that it cannot represent', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), parts => {
      expect(outcomeOf(parseJson, parts.join(''))).toEqual(outcomeOf(parseWithReviver, parts.join('')));
    }),
    { numRuns: 20_000 },
  );
});

test('an integer within a string stays text, even if the string looks like JSON', () => {
  const inner = '{"a":[12345678901234567890,1e30],"b":"\\",1e30]"}';
  const outer = `{"inner":${JSON.stringify(inner)},"big":[12345678901234567890,${JSON.stringify([inner])}]}`;

  expect(parseJson(outer)).toEqual({
    inner,
    big: [12345678901234567890n, [inner]],
  });
});

test('an integer under __proto__ is an ordinary value', () => {
  const parsed = record(parseJson('{"__proto__":12345678901234567890,"a":{"__proto__":[1e30]}}'));

  expect(Object.getOwnPropertyDescriptor(parsed, '__proto__')?.value).toBe(12345678901234567890n);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

/** Slow reference: a reviver that sees the source of every number. */
function parseWithReviver(source: string): unknown {
  const reviver = (_key: string, value: unknown, context?: { source?: string }) => {
    const digits = context?.source;
    if (typeof value !== 'number' || Number.isSafeInteger(value) || digits === undefined) return value;
    return /^-?\d+$/.test(digits) ? BigInt(digits) : (withoutExponent(digits) ?? value);
  };
  return JSON.parse(source, reviver);
}

function outcomeOf(parse: (source: string) => unknown, source: string): unknown {
  try {
    return { value: parse(source) };
  } catch (error) {
    return error instanceof SyntaxError ? 'syntax' : error;
  }
}

test('integers below 2^53 are numbers and those beyond are bigints', () => {
  expect(parseJson('[9007199254740991, 9007199254740992, -9007199254740993, 9007199254740993]')).toEqual([
    9007199254740991,
    9007199254740992n,
    -9007199254740993n,
    9007199254740993n,
  ]);
  expect(parseJson('123456789012345678901')).toBe(123456789012345678901n);
  expect(parseJson(' -123456789012345678901 ')).toBe(-123456789012345678901n);
});

test('an integer with an exponent keeps its digits', () => {
  expect(parseJson('{"supply":1.5e18,"cap":115792089237316195.4235709850086879078e60}')).toEqual({
    supply: 1_500_000_000_000_000_000n,
    cap: 115792089237316195423570985008687907800000000000000000000000000000000000000000n,
  });
  expect(parseJson('[2.0e3,1e-7,15e-1,1.5E+1]')).toEqual([2000, 1e-7, 1.5, 15]);
});

test.for([
  '1e999',
  '-1e999',
  '1e9999',
  '1e-999',
  '1e-7',
  '0e999',
  '1e308',
  '1.7976931348623159e308',
  '1E400',
])('%s is a number or an integer, and does not crash', source => {
  expect(['number', 'bigint']).toContain(typeof parseJson(source));
  expect(parseJson(`{"a":[${source}]}`)).toEqual({ a: [parseJson(source)] });
});

test('a number of a million digits is not an integer, and does not block the process', () => {
  const parsed = parseJson(`{"a":${'9'.repeat(1_000_000)},"b":${'9'.repeat(1000)}}`);

  expect(Object.values(record(parsed)).map(value => typeof value)).toEqual(['number', 'bigint']);
});

test('every exponent is read as the number it denotes, or rejected', () => {
  fc.assert(
    fc.property(
      fc.tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.nat(99_999), fc.integer({ min: -20, max: 15 })),
      ([whole, fraction, exponent]) => {
        const source = `${whole}.${fraction}e${exponent}`;
        const read = withoutExponent(source);
        if (read === null) expect(Number.isInteger(Number(source)) && exponent >= 5).toBe(false);
        else expect(Number(read)).toBe(Number(source) + 0);
      },
    ),
  );
});

test('of duplicate keys the last one is used', () => {
  expect(parseJson('{"a":1,"a":12345678901234567890}')).toEqual({ a: 12345678901234567890n });
});

test('invalid JSON is a SyntaxError, with or without big numbers', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map(tail => `{"a":1e30${tail}`),
      ),
      source => {
        const outcome = (parse: (text: string) => unknown) => {
          try {
            parse(source);
            return 'parsed';
          } catch (error) {
            return error instanceof SyntaxError ? 'syntax' : 'other';
          }
        };
        expect(outcome(parseJson)).toBe(outcome(text => JSON.parse(text)));
      },
    ),
  );
});
