import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ParameterRow } from '../../src/contract/contracts/operations.ts';
import { InvalidParameter } from '../../src/contract/contracts/violations.ts';
import { checkParameters, readParameters, requestReader } from '../../src/contract/mount/parameters.ts';
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
  ['a list as a repeated parameter', 'list=a&list=b&list=a', { list: ['a', 'b', 'a'] }],
  ['a list in both notations', 'list=a,b&s=x&list=a', { list: ['a', 'b', 'a'], s: 'x' }],
  ['a list with an escaped comma', 'ints=3%2C1&ints=2', { ints: [3, 1, 2] }],
  ['a list of integers', 'ints=3,1', { ints: [3, 1] }],
  ['a repeated parameter whose values may contain commas', 'each=a&each=b,c', { each: ['a', 'b,c'] }],
  ['a repeated parameter given once', 'each=a', { each: ['a'] }],
  ['an exact integer of 78 digits', `u=${MAX}`, { u: 2n ** 256n - 1n }],
  ['an integer as JavaScript prints it', 'u=1e%2B21', { u: 10n ** 21n }],
  ['an exponent with a plus that is not escaped', 'u=1.5e+21', { u: 15n * 10n ** 20n }],
  ['an exponent without a sign', 'u=12.50E2', { u: 1250n }],
  ['an exponent that only undoes the point', 'u=1.000000e+00', { u: 1n }],
  ['zero with an exponent', 'u=0.0e999', { u: 0n }],
  ['78 digits by an exponent', 'u=1e77', { u: 10n ** 77n }],
  ['the largest 64-bit integer', 'u64=18446744073709551615', { u64: 18446744073709551615n }],
  ['undeclared keys as absent', 'x=1&constructor=2&__proto__=3', {}],
  ['null as text', 's=null&each=null', { s: 'null', each: ['null'] }],
  ['null of a nullable parameter as absent', 'filter_u=null&decode=null&group=null', {}],
  ['an empty nullable parameter as absent', 'filter_u=&decode=&group=', {}],
  ['the remaining values of a nullable list', 'group=&group=a&group=null&group=b', { group: ['a', 'b'] }],
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
  ['a fraction in exponent form', 'u=1.5e0', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['a negative exponent', 'u=10e-1', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['79 digits by an exponent', 'u=1e78', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['2^256 and more by an exponent', 'u=2e77', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['a huge exponent', 'u=1e999999999', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['an exponent alone', 'u=e5', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['leading zeros before an exponent', 'u=01e5', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['a point without digits', 'u=1.e5', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['two signs in an exponent', 'u=1e%2B%2B5', 'u', 'must be an integer from 0 to 2^256 - 1'],
  ['2^64', 'u64=18446744073709551616', 'u64', 'must be an integer from 0 to 2^64 - 1 in decimal digits'],
  ['an empty item in a list of integers', 'ints=1,,2', 'ints', 'must be an integer in decimal digits'],
  ['an empty value among those of a list', 'ints=1&ints=', 'ints', 'must be an integer in decimal digits'],
  ['a broken escape', 's=%zz', 'query string', 'holds a malformed percent escape'],
  ['half a character', 's=%C3', 'query string', 'holds a malformed percent escape'],
  ['a NUL byte', 's=a%00', 'query string', 'must not hold a NUL byte'],
  ['NULL, which is not null', 'filter_u=NULL', 'filter_u', 'must be an integer from 0 to 2^256 - 1'],
  ['a nullable parameter given twice', 'page=&page=1', 'page', 'must be given once'],
  ['an unknown name in a closed operation', 'filter_x=1', 'filter_x', 'is not a parameter of this operation'],
  ['the same without a value', 'filter_', 'filter_', 'is not a parameter of this operation'],
  ['a long unknown name', `filter_${'x'.repeat(99)}`, `filter_${'x'.repeat(57)}…`, 'is not a parameter'],
])('refuses %s with the parameter and the rule', (_name, query, parameter, rule) => {
  const reading = () => readParameters(OPERATION, {}, query);

  expect(reading).toThrow(InvalidParameter);
  expect(reading).toThrow(`${parameter}: ${rule}`);
  expect(reading).toThrow(expect.objectContaining({ status: 400, parameter }));
});

test('a list is the same however its items are split between commas and repetitions', () => {
  const groups = fc.array(fc.array(fc.maxSafeNat(), { minLength: 1 }), { minLength: 1 });

  fc.assert(
    fc.property(groups, all => {
      const query = all.map(items => `ints=${items.join(',')}`).join('&');
      expect(readParameters(OPERATION, {}, query).query).toEqual({ page: 0, ints: all.flat() });
    }),
  );
});

const readLarge = (text: string) => readParameters(OPERATION, {}, `u=${text}`).query.u;

test('a large integer is exact in any notation with a point and an exponent', () => {
  const integer = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  fc.assert(
    fc.property(integer, fc.nat(77), fc.nat(1), (value, place, zeros) => {
      const digits = String(value);
      const point = (place % digits.length) + 1;
      const fraction = digits.slice(point) + '0'.repeat(zeros);
      const whole = digits.slice(0, point);
      const text = `${whole}${fraction === '' ? '' : `.${fraction}`}e${digits.length - point}`;
      expect(readLarge(text)).toBe(value);
    }),
  );
});

test('every integer printed by JavaScript is read as the same number, with its plus escaped or not', () => {
  const printed = fc.double({ min: 0, max: 1e77, noNaN: true }).map(Math.floor).map(String);
  fc.assert(
    fc.property(printed, text => {
      expect(Number(readLarge(text))).toBe(Number(text));
      expect(readLarge(encodeURIComponent(text))).toBe(readLarge(text));
    }),
  );
});

test('a number with an exponent is refused exactly when it is not an integer below 2^256', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,9}$/);
  fc.assert(
    fc.property(digits, fc.stringMatching(/^\d{1,9}$/), fc.nat(90), (whole, fraction, exponent) => {
      const scaled = BigInt(whole + fraction) * 10n ** BigInt(exponent);
      const unit = 10n ** BigInt(fraction.length);
      const isLegal = scaled % unit === 0n && scaled / unit < 2n ** 256n;
      const read = () => readLarge(`${whole}.${fraction}e${exponent}`);
      if (isLegal) expect(read()).toBe(scaled / unit);
      else expect(read).toThrow(InvalidParameter);
    }),
  );
});

const NULLABLE_ZERO = { nullable: true, default: 0 } as const;

test('a missing parameter has its default', () => {
  const parameters = [row('sort', 'string', { default: 'up' }), row('page', 'integer', NULLABLE_ZERO)];

  expect(readParameters({ parameters }, {}, '').query).toEqual({ sort: 'up', page: 0 });
  expect(readParameters({ parameters }, {}, 'sort=down&page=null').query).toEqual({ sort: 'down', page: 0 });
});

test('an open operation ignores every undeclared name', () => {
  expect(readParameters({ parameters: [] }, {}, 'filter_x=1').query).toEqual({});
});

test('an operation that refuses misspelt names ignores very short and unlike ones', () => {
  const parameters = [row('limit', 'integer'), row('to', 'string')];
  const read = (query: string) => readParameters({ parameters, refusesMisspelt: true }, {}, query).query;

  expect(read('t=1&ts=2&utm_source=3&limit=4')).toEqual({ limit: 4 });
  expect(() => read('Limit=4')).toThrow("Limit: is not a parameter of this operation; did you mean 'limit'?");
});

test('only the first twenty undeclared names are compared with declared ones', () => {
  const parameters = [row('limit', 'integer')];
  const undeclared = (count: number) =>
    Array.from({ length: count }, (_, index) => `utm_${index}=1`).join('&');
  const read = (query: string) => readParameters({ parameters, refusesMisspelt: true }, {}, query).query;

  expect(() => read(`${undeclared(19)}&Limit=4`)).toThrow("did you mean 'limit'?");
  expect(read(`${undeclared(20)}&Limit=4&limit=5`)).toEqual({ limit: 5 });
});

const { readThing } = smallContract.table;
const check = (request: Parameters<typeof checkParameters>[2]) =>
  checkParameters(smallContract.parameters, readThing, request);

test('the message for a broken pattern describes the form in words, without the regular expression', () => {
  const checking = () => check({ path: { id: 'A' }, query: {} });

  expect(checking).toThrow(new InvalidParameter('id', 'must be lower-case letters'));
});

test.each<[string, Record<string, unknown>, string, string]>([
  ['a value outside of a list of values', { tags: ['a', 'c'] }, 'tags', 'value 2 must be one of a, b'],
  ['too many values', { tags: ['a', 'b', 'a', 'b'] }, 'tags', 'must have at most 3 items'],
  ['a number above its maximum', { count: 11 }, 'count', 'must be an integer from 0 to 10'],
])('%s is reported with parameter, position and rule', (_name, query, parameter, rule) => {
  const checking = () => check({ path: { id: 'a' }, query });

  expect(checking).toThrow(new InvalidParameter(parameter, rule));
});

test('a required query parameter without a value is reported', () => {
  const parameters = [row('q', 'string', { required: true })];

  expect(() => checkParameters({}, { parameters }, { path: {}, query: {} })).toThrow(
    new InvalidParameter('q', 'is required'),
  );
});

test('a row that names a validator which the contract lacks is a failure of the server', () => {
  expect(() => checkParameters({}, readThing, { path: { id: 'a' }, query: {} })).toThrow(
    new Error('no parameter validator Id'),
  );
});

test('parameters that equal targets share cannot be changed', () => {
  const read = requestReader(smallContract);
  const target = { url: '/things/a?tags=a,b', querystring: 'tags=a,b' };
  const readOnce = () => read(readThing, target, { id: 'a' });

  const first = readOnce();

  expect(readOnce()).toBe(first);
  expect([first, first.path, first.query, first.query.tags].every(Object.isFrozen)).toBe(true);
});
