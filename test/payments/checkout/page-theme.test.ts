import fc from 'fast-check';
import { expect, test } from 'vitest';
import { colourOf, contrast, themeName, themeSheet } from '#payments/checkout/page/browser/theme.ts';

const colour = fc.integer({ min: 0, max: 0xffffff }).map(number => number.toString(16).padStart(6, '0'));

function values(sheet: string | undefined, name: string): string[] {
  return [...(sheet ?? '').matchAll(new RegExp(`--${name}:#([0-9a-f]{6})`, 'g'))].map(
    match => match[1] ?? '',
  );
}

function contrastOf(one = '', other = ''): number {
  return contrast(colourOf(one) ?? [0, 0, 0], colourOf(other) ?? [0, 0, 0]);
}

test('contrast is computed as WCAG defines it', () => {
  expect(contrastOf('000000', 'ffffff')).toBeCloseTo(21, 5);
  expect(contrastOf('777777', 'ffffff')).toBeCloseTo(4.48, 2);
});

test('text on any merchant colour has a contrast of at least 4.5', () => {
  fc.assert(
    fc.property(colour, accent => {
      const sheet = themeSheet(accent);

      expect(values(sheet, 'accent')[0]).toBe(accent);
      expect(contrastOf(accent, values(sheet, 'on-accent')[0])).toBeGreaterThanOrEqual(4.5);
    }),
  );
});

test('the edge of a button has a contrast of at least 3 with the card, in light and dark mode', () => {
  fc.assert(
    fc.property(colour, accent => {
      const [light, dark] = values(themeSheet(accent), 'accent-line');

      expect(contrastOf(light, 'ffffff')).toBeGreaterThanOrEqual(3);
      expect(contrastOf(dark, '1c1e21')).toBeGreaterThanOrEqual(3);
    }),
  );
});

test.each([null, '', '0052ff', '#0052f', '#0052fg', '#0052ff;}', 'red', 'url(x)'])(
  '%j is not accepted as a colour',
  text => {
    expect(themeName(text)).toBeUndefined();
  },
);

test('a colour is named in lower case', () => {
  expect(themeName('#00AAff')).toBe('00aaff');
});

test('an invalid colour has no style sheet', () => {
  expect(themeSheet('0052ff}')).toBeUndefined();
  expect(themeSheet('')).toBeUndefined();
});
