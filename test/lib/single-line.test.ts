import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSingleLine, SINGLE_LINE } from '../../src/lib/single-line.ts';

const FORBIDDEN = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, place) => 0x7f + place),
  ...[0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
].map(code => String.fromCharCode(code));
const INVISIBLE = [
  '\u200b',
  '\u200c',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u00ad',
  '\u3164',
  '\u2800',
  '\u{e0001}',
  '\u{e0067}',
  '\u{e007f}',
  '\ufe0f',
  ' ',
  '\u00a0',
];

test('a text with a control character, a line separator or a change of direction is not a single line', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...FORBIDDEN), fc.string(), (before, forbidden, after) => {
      expect(isSingleLine(`x${before}${forbidden}${after}`)).toBe(false);
    }),
  );
});

test('a text of only blanks and zero-width characters is not a single line', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...INVISIBLE)), parts => {
      expect(isSingleLine(parts.join(''))).toBe(false);
    }),
  );
});

test.each([
  'Corner Books',
  'Bücher & Söhne',
  '本屋',
  'مكتبة',
  '👩‍👩‍👧',
  '🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}',
  'a\u200db',
  '5',
])('%s is a single line', text => {
  expect(isSingleLine(text)).toBe(true);
});

test('the contract has no other pattern for single lines', () => {
  const spec = readFileSync(new URL('../../spec/payments/schemas.yaml', import.meta.url), 'utf8');
  const patterns = [...spec.matchAll(/pattern: (\^\(\?=.*)/g)].map(([, pattern = '']) => pattern);

  expect(patterns.length).toBeGreaterThan(10);
  expect(new Set(patterns)).toEqual(new Set([SINGLE_LINE.source]));
});
