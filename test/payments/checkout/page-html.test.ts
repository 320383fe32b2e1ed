import fc from 'fast-check';
import { expect, test } from 'vitest';
import { html, textOf } from '#payments/checkout/page/parts/html.ts';

test('what is put into a page is text, in content and in attributes', () => {
  const text = `<script>alert("1")</script>'&\``;

  const page = textOf(html`<p title="${text}">${text}</p>`);

  expect(page).not.toMatch(/<script|alert\("|'|`/);
  expect(page.match(/&#60;script&#62;/g)).toHaveLength(2);
});

test('no text leaves its place, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const inside = /^<p title="([\s\S]*)">([\s\S]*)<\/p>$/.exec(
        textOf(html`<p title="${text}">${text}</p>`),
      );

      expect(inside?.[1]).toBe(inside?.[2]);
      expect(inside?.[1]).not.toMatch(/[<>"'`]/);
    }),
  );
});

/** Texts that look like the beginning of an attribute, beside any others. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('2 + 2 =', 'a = ', '=', ' href="', ' src="', '="', ''),
);

test('no text changes what becomes of the text beside it', () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, (first, second, third) => {
      const [a, b, c] = [first, second, third].map(text => textOf(html`${text}`));

      expect(textOf(html`<p title="${first}${second}">${first}${second} ${third}</p>`)).toBe(
        `<p title="${a}${b}">${a}${b} ${c}</p>`,
      );
    }),
  );
});

test.each(['2 + 2 =', ' href="'])('a text may end in %j, whatever stands beside it', text => {
  expect(textOf(html`${text}${'next'}`)).toBe(`${textOf(html`${text}`)}next`);
  expect(textOf(html`${html`${text}`}${'next'}`)).toBe(`${textOf(html`${text}`)}next`);
});

test('templates within templates and lists of them are not escaped again', () => {
  expect(textOf(html`<ul>${['a', '<b>'].map(name => html`<li>${name}</li>`)}</ul>`)).toBe(
    '<ul><li>a</li><li>&#60;b&#62;</li></ul>',
  );
});

test('nothing stands for null, undefined and false, and zero is a number', () => {
  expect(textOf(html`${null}${undefined}${false}${0}${0n}`)).toBe('00');
});

test.each([
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  '//evil.example/x.js',
  'blob:x',
])('%j is no address that a page leads to or loads', address => {
  expect(textOf(html`<a href="${address}">x</a>`)).toBe('<a href="#">x</a>');
  expect(textOf(html`<img src="${address}">`)).toBe('<img src="#">');
});

test.each(['https://a.example/?b=1', '/pay/s/x', '#payment', 'ethereum:0xab@1?value=1'])(
  'a page may lead to %s',
  address => {
    expect(textOf(html`<a href="${address}">x</a>`)).toBe(`<a href="${address}">x</a>`);
  },
);

test('an attribute without quotes is refused, also one that ends a template', () => {
  expect(() => html`<p title=${'x onclick=alert(1)'}>x</p>`).toThrow(TypeError);
  expect(() => html`<p title="${'x'}" lang=${'en'}>x</p>`).toThrow(TypeError);
  expect(() => html`<p ${html`title=`}${'x onclick=alert(1)'}>x</p>`).toThrow(TypeError);
});

test('an address is judged right behind another piece, too', () => {
  expect(textOf(html`<a ${'title '}href="${'javascript:alert(1)'}">x</a>`)).toBe('<a title href="#">x</a>');
});
