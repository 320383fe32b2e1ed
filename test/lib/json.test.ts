import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, toJson } from '../../src/lib/json.ts';

const UINT256_MAX = 2n ** 256n - 1n;

test('a bigint is written as its exact integer, at any depth', () => {
  expect(toJson({ a: [UINT256_MAX, -1n], b: { c: 0n } })).toBe(`{"a":[${UINT256_MAX},-1],"b":{"c":0}}`);
  expect(toJson(7n)).toBe('7');
});

test('without bigints the text is that of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(toJson(value)).toBe(JSON.stringify(value));
    }),
  );
});

test('a cycle is refused', () => {
  const cycle: Record<string, unknown> = { n: 1n };
  cycle.self = cycle;

  expect(() => toJson(cycle)).toThrow(TypeError);
});

test('canonical text does not depend on the order of keys', () => {
  const one = { b: [{ y: 1n, x: null }], a: { d: undefined, c: 'é' } };
  const other = { a: { c: 'é' }, b: [{ x: null, y: 1n }] };

  expect(canonicalJson(one)).toBe('{"a":{"c":"é"},"b":[{"x":null,"y":1}]}');
  expect(canonicalJson(other)).toBe(canonicalJson(one));
});

test('canonical text still says the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), value => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
