import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countMembers } from '#lib/json-text/member-count.ts';

test('the count is that of the parsed value, for any text and any white space', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 5 }),
      fc.constantFrom(undefined, 1, '\t'),
      fc.constantFrom('"\\', '[{,:}]', '\\"', '\u00e9\u{1f600}'),
      (value, space, text) => {
        const all = { [text]: value, list: [text, [], {}, [[]], value] };

        expect(countOf(JSON.stringify(all, null, space))).toBe(membersOf(JSON.parse(JSON.stringify(all))));
      },
    ),
  );
});

test('repeated keys count', () => {
  expect(countOf('{"a":1,"a":2,"a":3}')).toBe(3);
});

test('counting ends one above the limit', () => {
  const bytes = Buffer.from(JSON.stringify(Array(1_000).fill(0)));

  expect(countMembers(bytes, 1_000)).toBe(1_000);
  expect(countMembers(bytes, 999)).toBe(1_000);
  expect(countMembers(bytes, 10)).toBe(11);
});

test.for(['', ' ', '"', '"\\', '[', '{"a', '\\', ']]', ',,,'])(
  'bytes that are no JSON have a count: %j',
  text => {
    expect(countOf(text)).toBeLessThanOrEqual(text.length);
  },
);

function countOf(text: string): number {
  return countMembers(Buffer.from(text), Number.POSITIVE_INFINITY);
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + membersOf(member), 0);
}
