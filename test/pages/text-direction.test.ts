import fc from 'fast-check';
import { html } from 'htm/preact';
import { Fragment } from 'preact';
import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { plainLine } from '#lib/single-line.ts';
import { confineDirections, isBlank, ownDirection } from '#pages/browser/text-direction.ts';

const HEBREW = '\u05e9\u05e7\u05dc';

test.each([
  ['an override', 'USD\u202eC', 'USD\ufffdC'],
  ['a mark at the end', 'USDC\u200f', 'USDC\ufffd'],
  ['a space without width', 'USD\u200bC', 'USD\ufffdC'],
  ['a control character', 'USD\u0000C\u001b\u009b', 'USD\ufffdC\ufffd\ufffd'],
  ['a line break', 'a\n\tb', 'a\n\tb'],
  ['an isolate that never ends', 'a\u2067b', 'a\ufffdb'],
  ['letters from right to left', HEBREW, `\u2068${HEBREW}\u2069`],
  [
    'letters from right to left with an end of the isolate',
    `${HEBREW}\u2069x`,
    `\u2068${HEBREW}\ufffdx\u2069`,
  ],
  ['text without either', 'Größe 本屋 👩‍👩‍👧', 'Größe 本屋 👩‍👩‍👧'],
])('%s cannot change the direction of the text behind it', (_name, text, shown) => {
  expect(ownDirection(text)).toBe(shown);
});

test('a text that is shown twice changes once', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '\u202e', '\u2068', '\u2069', '\u05e9', '\u061c') }),
      text => {
        const shown = ownDirection(text);

        expect(ownDirection(shown)).toBe(shown);
      },
    ),
  );
});

test('pages replace the marks that mails leave out', () => {
  for (let code = 0xa0; code < 0xd800; code += 1) {
    const text = `a${String.fromCharCode(code)}b`;
    const isMark = ownDirection(text).includes('\ufffd');

    expect(plainLine(text) === 'ab', code.toString(16)).toBe(isMark);
  }
});

test('texts in elements, fragments, lists and attributes are confined, and values of fields are not', () => {
  confineDirections();
  const mark = '\u202ex';

  const page = html`<div title=${mark} id=${mark}>
    ${mark}<${Fragment}>${mark}<//>${[[mark], html`<b>${mark}</b>`]}<img alt=${mark} /><input value=${mark} />
  </div>`;

  expect(render(page).replaceAll(/\s+/g, ' ')).toBe(
    `<div title="\ufffdx" id="${mark}">\ufffdx\ufffdx\ufffdx<b>\ufffdx</b><img alt="\ufffdx"/><input value="${mark}"/></div>`,
  );
});

test.each(['', ' ', '\u00a0\u3000', '\u200b\u200d', '\u3164\uffa0', '\u2800', '\u202e', '\u0000', '\ufe0f'])(
  'nothing of %j can be seen',
  text => {
    expect(isBlank(text)).toBe(true);
  },
);

test.each(['.', 'a\u202e', '\u{1f469}', '\u05e9', '0'])('something of %j can be seen', text => {
  expect(isBlank(text)).toBe(false);
});
