import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, fromJson, toJson } from '../../src/lib/json.ts';

const UINT256_MAX = 2n ** 256n - 1n;

test('a bigint is written as its exact integer, at any depth', () => {
  expect(toJson({ a: [UINT256_MAX, -1n], b: { c: 0n } })).toBe(`{"a":[${UINT256_MAX},-1],"b":{"c":0}}`);
  expect(toJson(7n)).toBe('7');
});

test('integers beyond a number’s precision are read with all their digits', () => {
  const long = [UINT256_MAX, -(2n ** 64n)];

  expect(fromJson(toJson({ long, short: 7n, text: ':12345678901234567890' }))).toEqual({
    long,
    short: 7,
    text: ':12345678901234567890',
  });
});

test('without bigints the text equals JSON.stringify’s', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(toJson(value)).toBe(JSON.stringify(value));
    }),
  );
});

const { value: withBigints } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.bigInt(),
      fc.string(),
      fc.double(),
      fc.boolean(),
      fc.constantFrom(null, undefined),
      fc.date(),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1')), tie('value'), { maxKeys: 5 }),
  ),
}));

test('with bigints the text equals that of a replacer, and the value is not changed', () => {
  const replacer = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value;
  fc.assert(
    fc.property(withBigints, value => {
      const before = structuredClone(value);

      expect(toJson([1n, value])).toBe(JSON.stringify([1n, value], replacer));
      expect(value).toEqual(before);
    }),
    { numRuns: 500 },
  );
});

test('a value that appears twice is written twice', () => {
  const shared = { amount: 2n ** 64n };

  expect(toJson([shared, { shared }, shared])).toBe(
    '[{"amount":18446744073709551616},{"shared":{"amount":18446744073709551616}},{"amount":18446744073709551616}]',
  );
});

test('a cycle is refused', () => {
  const cycle: Record<string, unknown> = { n: 1n };
  cycle.self = cycle;

  expect(() => toJson(cycle)).toThrow(TypeError);
  expect(() => toJson([{ inner: [cycle] }])).toThrow(TypeError);
});

test('canonical text does not depend on the order of keys', () => {
  const one = { b: [{ y: 1n, x: null }], a: { d: undefined, c: 'é' } };
  const other = { a: { c: 'é' }, b: [{ x: null, y: 1n }] };

  expect(canonicalJson(one)).toBe('{"a":{"c":"é"},"b":[{"x":null,"y":1}]}');
  expect(canonicalJson(other)).toBe(canonicalJson(one));
});

test('canonical text has the same content', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), value => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
