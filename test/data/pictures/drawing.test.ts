import { expect, test } from 'vitest';
import { isDrawable, isDrawing } from '#data/pictures/drawing.ts';
import { PNG } from './picture-service.ts';

const svg = (content: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">${content}</svg>`;
const inBase64 = (content: string | Buffer, type = 'image/svg+xml') =>
  `data:${type};base64,${Buffer.from(content).toString('base64')}`;
const shows = (text: string) => isDrawable(Buffer.from(text));
/** A PNG that says a size. */
const pngOf = (side: number) => {
  const bytes = Buffer.from(PNG);
  bytes.writeUInt32BE(side, 16);
  bytes.writeUInt32BE(side, 20);
  return bytes;
};
/** Levels of elements, each of which draws the one before it so many times. */
const levels = (count: number, times: number, link: (id: number) => string) =>
  svg(
    Array.from(
      { length: count },
      (_, level) => `<g id="l${level}">${level === 0 ? '<path/>' : link(level - 1).repeat(times)}</g>`,
    ).join(''),
  );

test.each([
  ['a drawing', '<svg/>'],
  ['one with a declaration', '<?xml version="1.0" encoding="UTF-8"?>\n<svg></svg>'],
  ['one with a mark of its encoding', '\ufeff<svg></svg>'],
  ['one with comments', '<!-- made by hand -->\n<!-- > --><svg width="1">'],
  [
    'one with a document type',
    '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd"><svg>',
  ],
])('%s is recognised', (_, text) => {
  expect(isDrawing(Buffer.from(text))).toBe(true);
});

test.each([
  ['a page', '<html><svg/></html>'],
  ['a page with a document type', '<!doctype html><svg/>'],
  ['another element', '<svgs/>'],
  ['text', 'svg'],
  ['nothing', ''],
])('%s is no drawing', (_, text) => {
  expect(isDrawing(Buffer.from(text))).toBe(false);
});

test.each([
  [
    'words',
    svg('<style>.base { fill: white; font: 14px serif }</style><text class="base">Grim Shout</text>'),
  ],
  [
    'layers of pictures',
    svg(
      `<image xlink:href="${inBase64(svg('<rect width="1"/>'))}"/><image href="${inBase64(PNG, 'image/png')}"/>`,
    ),
  ],
  [
    'a moving card with filters over drawings',
    svg(`<defs><filter id="f">${`<feImage result="p" xlink:href="${inBase64(svg('<circle r="120"/>'))}"/>`.repeat(3)}
      <feBlend mode="overlay"/><feGaussianBlur stdDeviation="42"/></filter><clipPath id="c"><rect rx="42"/></clipPath>
      </defs><g clip-path="url(#c)" style="filter: url(#f)"><path d="M1 1h9"/></g>
      <text><textPath href="#t">0xa0b8… USDC<animate additive="sum" repeatCount="indefinite"/></textPath></text>`),
  ],
  ['a grid of uses', svg(`<defs><rect id="r"/></defs>${'<use href="#r"/>'.repeat(1_024)}`)],
  ['a font', svg(`<style>@font-face { src: url(${inBase64('font', 'font/woff2')}) }</style><text>a</text>`)],
  [
    'a gradient for a group, and one by a class',
    svg(
      `<style>.a{fill:url(#g)}</style><linearGradient id="g"><stop/><stop/></linearGradient><g stroke="url(#g)">${'<path class="a"/>'.repeat(2_000)}</g>`,
    ),
  ],
  ['a colour that moves', svg('<rect><animate attributeName="fill" values="red;blue"/></rect>')],
  ['entities of XML', svg('<text>&lt;&#65;&amp;</text>')],
  ['a link to another host, which no browser loads', svg('<image href="https://example.org/a.png"/>')],
  ['a missing link', svg('<use href="#nothing"/>')],
])('a drawing with %s is shown', (_, text) => {
  expect(shows(text)).toBe(true);
});

test.each([
  ['laughs a billion times', '<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><svg>&b;</svg>'],
  ['names an unknown entity', svg('&nbsp;')],
  ['is not well-formed', '<svg><g></svg>'],
  ['has a style sheet of its own', `<?xml version="1.0"?><?xml-stylesheet href="#s"?>${svg('')}`],
  ['is long', svg(`<path d="${'M0 0'.repeat(150_000)}"/>`)],
  ['is deep', svg(`${'<g>'.repeat(100)}${'</g>'.repeat(100)}`)],
  ['draws a billion times', levels(30, 2, id => `<use href="#l${id}"/>`)],
  ['draws a billion times in the names of XLink', levels(10, 10, id => `<use xlink:href="#l${id}"/>`)],
  ['masks a billion times', levels(10, 10, id => `<g mask="url('#l${id}')"/>`)],
  ['clips a billion times by a style', levels(10, 10, id => `<g style="clip-path:url(#l${id})"/>`)],
  [
    'draws a marker at every point',
    svg(
      `<marker id="m">${'<g/>'.repeat(500)}</marker><path marker-mid="url(#m)" d="${'M0 0'.repeat(100)}"/>`,
    ),
  ],
  ['refers to itself', svg('<g id="a"><use href="#a"/></g>')],
  ['refers to itself through others', svg('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>')],
  [
    'filters each element by a class',
    svg(`<style>g { filter: url(#f) }</style><filter id="f"><feTurbulence/></filter>${'<g/>'.repeat(300)}`),
  ],
  ['has a filter of many octaves', svg('<filter id="f"><feTurbulence numOctaves="1000"/></filter>')],
  ['has many filters', svg(`<filter id="f">${'<feMorphology radius="999"/>'.repeat(300)}</filter>`)],
  ['moves many filters', svg(`<animate/><filter id="f">${'<feMorphology/>'.repeat(30)}</filter>`)],
  [
    'moves many filters by a style',
    svg(`<style>@keyframes a { }</style><filter>${'<feBlend/>'.repeat(30)}</filter>`),
  ],
  [
    'contains a picture of 400 million pixels',
    svg(`<image href="${inBase64(pngOf(20_000), 'image/png')}"/>`),
  ],
  ['contains many large pictures', svg(`<image href="${inBase64(pngOf(4_000), 'image/png')}"/>`.repeat(2))],
  [
    'contains a large picture in a style',
    svg(`<rect style="fill: url( ${inBase64(pngOf(20_000), 'image/png')} )"/>`),
  ],
  [
    'hides a large picture by escapes',
    svg(`<style>g { fill: url(d\\61 ta:${inBase64(pngOf(20_000)).slice(5)}) }</style>`),
  ],
  [
    'hides a large picture by entities',
    svg(`<image href="&#100;ata${inBase64(pngOf(20_000), 'image/png').slice(4)}"/>`),
  ],
  [
    'hides a style behind an element in it',
    svg(
      `<style><g/>g { filter: url(#f) }</style><filter id="f"><feTurbulence/></filter>${'<g/>'.repeat(300)}`,
    ),
  ],
  [
    'moves a link to many elements',
    svg(
      `<g id="many">${'<g/>'.repeat(400)}</g>${'<use><set attributeName="href" to="#many"/></use>'.repeat(400)}`,
    ),
  ],
  [
    'moves a filter',
    svg(`<filter id="f"><feBlend/></filter><g><animate attributeName="filter" values="none;url(#f)"/></g>`),
  ],
  [
    'moves the octaves of a filter',
    svg('<feTurbulence><set attributeName="numOctaves" to="999"/></feTurbulence>'),
  ],
  [
    'fills each element of a group with many',
    svg(`<pattern id="p">${'<g/>'.repeat(400)}</pattern><g fill="url(#p)">${'<path/>'.repeat(400)}</g>`),
  ],
  [
    'fills each used element by a style',
    svg(
      `<style>*{fill:url(#p)}</style><pattern id="p">${'<g/>'.repeat(40)}</pattern><g id="r">${'<path/>'.repeat(20)}</g>${'<use href="#r"/>'.repeat(100)}`,
    ),
  ],
  ['contains a page', svg(`<image href="${inBase64('<html>', 'text/html')}"/>`)],
  [
    'contains drawings in drawings',
    svg(
      `<image href="${inBase64(svg(`<image href="${inBase64(svg(`<image href="${inBase64(svg(''))}"/>`))}"/>`))}"/>`,
    ),
  ],
])('a drawing that %s is not shown', (_, text) => {
  expect(isDrawing(Buffer.from(text)) && shows(text)).toBe(false);
});

// With a choice between the ends of comments, this takes longer than the universe is old.
test('many comments before what is no drawing take no time', () => {
  const comments = '<!---->'.repeat(142);

  expect(isDrawing(Buffer.from(`${comments}x`))).toBe(false);
  expect(isDrawing(Buffer.from(`${'<!DOCTYPE svg>'.repeat(70)}x`))).toBe(false);
  expect(isDrawing(Buffer.from(`${comments.slice(0, 980)}<svg/>`))).toBe(true);
});

test('a drawing that is not UTF-8 is not shown', () => {
  const bytes = Buffer.from(svg('<text>café</text>'), 'latin1');

  expect(isDrawing(bytes)).toBe(true);
  expect(isDrawable(bytes)).toBe(false);
});

test('the costliest text to read is refused within a moment', () => {
  const wide = svg(`<g id="a">${'<use href="#a"/>'.repeat(20_000)}</g>`);
  const chained = levels(2_000, 2, id => `<use href="#l${id}"/>`);
  const styled = svg(`<style>${'g{fill:url(#a)}'.repeat(20_000)}</style><g id="a"/>`);

  // Time of the processor, because other programs on the machine take none of it.
  const before = process.threadCpuUsage();
  for (const text of [wide, chained, styled]) shows(text);
  const { user, system } = process.threadCpuUsage(before);

  expect((user + system) / 1_000).toBeLessThan(2_500);
});
