import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ParameterRow } from '../../src/contract/operations.ts';
import { readParameters } from '../../src/contract/parameters.ts';
import { InvalidParameter, parameterViolation } from '../../src/contract/violations.ts';
import { smallContract } from '../support/small-contract.ts';

const row = (name: string, read: ParameterRow['read'], more: Partial<ParameterRow> = {}): ParameterRow => ({
  name,
  in: 'query',
  required: false,
  read,
  many: 'one',
  ...more,
});

const ROWS = [
  row('s', 'string'),
  row('i', 'integer'),
  row('n', 'number'),
  row('b', 'boolean'),
  row('u', 'bigint', { bits: 256 }),
  row('u64', 'bigint', { bits: 64 }),
  row('list', 'string', { many: 'list' }),
  row('ints', 'integer', { many: 'list' }),
  row('each', 'string', { many: 'repeated' }),
  row('page', 'integer', { nullable: true, default: 0 }),
  row('group', 'string', { many: 'repeated', nullable: true }),
  row('filter_u', 'bigint', { bits: 256, nullable: true }),
  row('decode', 'boolean', { nullable: true }),
];
const OPERATION = { parameters: ROWS, closed: ['filter_'] };
const MAX = (2n ** 256n - 1n).toString();

test.each<[string, string, Record<string, unknown>]>([
  ['nothing', '', {}],
  ['text', 's=a%20b%2Bc', { s: 'a b+c' }],
  ['a plus as a blank', 's=a+b', { s: 'a b' }],
  ['an empty text', 's=', { s: '' }],
  ['an integer', 'i=42', { i: 42 }],
  ['zero', 'i=0', { i: 0 }],
  ['a negative integer', 'i=-7', { i: -7 }],
  ['the largest exact integer', 'i=9007199254740991', { i: 9007199254740991 }],
  ['a decimal number', 'n=1.25', { n: 1.25 }],
  ['truth', 'b=true', { b: true }],
  ['a list', 'list=a,b,a', { list: ['a', 'b', 'a'] }],
  ['a list that is repeated', 'list=a&list=b&list=a', { list: ['a', 'b', 'a'] }],
  ['a list in both forms', 'list=a,b&s=x&list=a', { list: ['a', 'b', 'a'], s: 'x' }],
  ['a list with an escaped comma', 'ints=3%2C1&ints=2', { ints: [3, 1, 2] }],
  ['a list of integers', 'ints=3,1', { ints: [3, 1] }],
  ['a repeated parameter whose values may hold commas', 'each=a&each=b,c', { each: ['a', 'b,c'] }],
  ['a repeated parameter given once', 'each=a', { each: ['a'] }],
  ['an exact integer of 78 digits', `u=${MAX}`, { u: 2n ** 256n - 1n }],
  ['the largest of 64 bits', 'u64=18446744073709551615', { u64: 18446744073709551615n }],
  ['undeclared keys as absent', 'x=1&constructor=2&__proto__=3', {}],
  ['null as the text that it is', 's=null&each=null', { s: 'null', each: ['null'] }],
  ['null of a nullable parameter as absent', 'filter_u=null&decode=null&group=null', {}],
  ['an empty nullable parameter as absent', 'filter_u=&decode=&group=', {}],
  ['what is left of a nullable list', 'group=&group=a&group=null&group=b', { group: ['a', 'b'] }],
  ['a nullable parameter', 'filter_u=7&decode=true', { filter_u: 7n, decode: true }],
])('reads %s', (_name, query, expected) => {
  expect(readParameters(OPERATION, {}, query).query).toEqual({ page: 0, ...expected });
});

test.each<[string, string, string, string]>([
  ['a scalar given twice', 's=a&s=a', 's', 'must be given once'],
  ['1e3', 'i=1e3', 'i', 'must be an integer in decimal digits'],
  ['0x10', 'i=0x10', 'i', 'must be an integer in decimal digits'],
  ['-0', 'i=-0', 'i', 'must be an integer in decimal digits'],
  ['a plus sign', 'i=%2B1', 'i', 'must be an integer in decimal digits'],
  ['leading zeros', 'i=007', 'i', 'must be an integer in decimal digits'],
  ['a blank', 'i=%201', 'i', 'must be an integer in decimal digits'],
  ['a fraction', 'i=1.5', 'i', 'must be an integer in decimal digits'],
  ['nothing after the equals sign', 'i=', 'i', 'must be an integer in decimal digits'],
  ['other digits', 'i=%D9%A3', 'i', 'must be an integer in decimal digits'],
  ['2^53', 'i=9007199254740992', 'i', 'must be an integer in decimal digits'],
  ['-2^53', 'i=-9007199254740992', 'i', 'must be an integer in decimal digits'],
  ['Infinity', 'n=Infinity', 'n', 'must be a decimal number'],
  ['NaN', 'n=NaN', 'n', 'must be a decimal number'],
  ['1 as a boolean', 'b=1', 'b', 'must be true or false'],
  ['79 digits', `u=${'1'.repeat(79)}`, 'u', 'must be an integer from 0 to 2^256 - 1 in decimal digits'],
  ['2^256', `u=${2n ** 256n}`, 'u', 'must be an integer from 0 to 2^256 - 1 in decimal digits'],
  ['a negative exact integer', 'u=-1', 'u', 'must be an integer from 0 to 2^256 - 1 in decimal digits'],
  ['2^64', 'u64=18446744073709551616', 'u64', 'must be an integer from 0 to 2^64 - 1 in decimal digits'],
  ['a gap in a list of integers', 'ints=1,,2', 'ints', 'must be an integer in decimal digits'],
  ['an empty value among those of a list', 'ints=1&ints=', 'ints', 'must be an integer in decimal digits'],
  ['a broken escape', 's=%zz', 'query string', 'holds a malformed percent escape'],
  ['half a character', 's=%C3', 'query string', 'holds a malformed percent escape'],
  ['a NUL byte', 's=a%00', 'query string', 'must not hold a NUL byte'],
  ['NULL, which is not null', 'filter_u=NULL', 'filter_u', 'must be an integer from 0 to 2^256 - 1'],
  ['a nullable parameter given twice', 'page=&page=1', 'page', 'must be given once'],
  ['an unknown name that is closed', 'filter_x=1', 'filter_x', 'is not a parameter of this operation'],
  ['the same without a value', 'filter_', 'filter_', 'is not a parameter of this operation'],
  ['a long unknown name', `filter_${'x'.repeat(99)}`, `filter_${'x'.repeat(57)}…`, 'is not a parameter'],
])('refuses %s, naming the parameter and the rule', (_name, query, parameter, rule) => {
  const reading = () => readParameters(OPERATION, {}, query);

  expect(reading).toThrow(InvalidParameter);
  expect(reading).toThrow(`${parameter}: ${rule}`);
  expect(reading).toThrow(expect.objectContaining({ status: 400, parameter }));
});

test('a list is the same however its items are divided among commas and repetitions', () => {
  const groups = fc.array(fc.array(fc.maxSafeNat(), { minLength: 1 }), { minLength: 1 });

  fc.assert(
    fc.property(groups, all => {
      const query = all.map(items => `ints=${items.join(',')}`).join('&');
      expect(readParameters(OPERATION, {}, query).query).toEqual({ page: 0, ints: all.flat() });
    }),
  );
});

const NULLABLE_ZERO = { nullable: true, default: 0 } as const;

test('a default stands in for a parameter that is not given', () => {
  const parameters = [row('sort', 'string', { default: 'up' }), row('page', 'integer', NULLABLE_ZERO)];

  expect(readParameters({ parameters }, {}, '').query).toEqual({ sort: 'up', page: 0 });
  expect(readParameters({ parameters }, {}, 'sort=down&page=null').query).toEqual({ sort: 'down', page: 0 });
});

test('an operation that is closed to nothing ignores every name that it does not declare', () => {
  expect(readParameters({ parameters: [] }, {}, 'filter_x=1').query).toEqual({});
});

test('an operation that refuses misspelt names ignores short and far ones', () => {
  const parameters = [row('limit', 'integer'), row('to', 'string')];
  const read = (query: string) => readParameters({ parameters, refusesMisspelt: true }, {}, query).query;

  expect(read('t=1&ts=2&utm_source=3&limit=4')).toEqual({ limit: 4 });
  expect(() => read('Limit=4')).toThrow("Limit: is not a parameter of this operation; did you mean 'limit'?");
});

test('a value that breaks a pattern is told the form in words and not as a regular expression', () => {
  const validate = smallContract.parameters.readThing;

  const isValid = validate?.({ path: { id: 'A' }, query: {} });

  expect(isValid).toBe(false);
  expect(parameterViolation(validate?.errors).message).toBe('id: must be lower-case letters');
});

test.each<[string, object, string]>([
  ['a value outside of a list of values', { tags: ['a', 'c'] }, 'tags: value 2 must be one of a, b'],
  ['too many values', { tags: ['a', 'b', 'a', 'b'] }, 'tags: must have at most 3 items'],
  ['a number above its bound', { count: 11 }, 'count: must be an integer from 0 to 10'],
])('%s is told by parameter, place and rule', (_name, query, message) => {
  const validate = smallContract.parameters.readThing;

  const isValid = validate?.({ path: { id: 'a' }, query });

  expect(isValid).toBe(false);
  expect(parameterViolation(validate?.errors).message).toBe(message);
});
