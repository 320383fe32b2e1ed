import { afterAll, beforeAll, expect, test } from 'vitest';
import { ARABIC } from '#payments/browser/languages/ar.ts';
import { GERMAN } from '#payments/browser/languages/de.ts';
import { ENGLISH } from '#payments/browser/languages/en.ts';
import { localNumber } from '#payments/browser/languages/local-number.ts';
import { type ServedPages, servePages } from '../../support/checkout-pages.ts';

let pages: ServedPages;
beforeAll(async () => {
  pages = await servePages();
});
afterAll(() => pages[Symbol.asyncDispose]());

const speaking = (languages: string) => ({ 'Accept-Language': languages });

/** The texts of a language that take no values. */
function textsIn(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(textsIn) : [];
}

test.for([
  ['de-AT,de;q=0.9,en;q=0.8', 'de', 'Warten auf Ihre Zahlung'],
  ['fr,de;q=0.9', 'de', 'Warten auf Ihre Zahlung'],
  ['ar-EG', 'ar', 'في انتظار دفعتك'],
  ['en-GB,de;q=0.5', 'en', 'Waiting for your payment'],
  ['fr', 'en', 'Waiting for your payment'],
  ['*', 'en', 'Waiting for your payment'],
] as const)('a reader of %s gets a page in %s', async ([languages, language, title]) => {
  const session = await pages.session(await pages.link());

  const { text, headers } = await pages.get(`/pay/s/${session.id}`, speaking(languages));

  expect(text).toContain(`<html lang="${language}"`);
  expect(text).toContain(title);
  expect(text.includes('dir="rtl"')).toBe(language === 'ar');
  expect(text).toMatch(new RegExp(`rel="modulepreload" href="[^"]*/languages/${language}\\.ts"`));
  expect(headers.get('vary')).toContain('Accept-Language');
  expect(text).not.toContain('\ufffd');
});

test('the language in the address comes before those of the browser, on links and notices too', async () => {
  const link = await pages.link({ amount: 1_234_500_000n });

  const offer = await pages.get(`/pay/${link.shortCode}?lang=de`, speaking('ar'));
  const unknown = await pages.get('/pay/nowhere?lang=de');
  const odd = await pages.get('/pay/nowhere?lang=constructor');

  expect(offer.text).toContain('1.234,5 USDC');
  expect(offer.text).toMatch(/>Weiter zur Zahlung<\/button>/);
  expect(offer.text).toContain('Noch wird nichts abgebucht.');
  expect(unknown.text).toContain('Diese Seite gibt es nicht');
  expect(odd.text).toContain('This page does not exist');
});

test('a page in another language is another page for caches', async () => {
  const { id } = await pages.session(await pages.link());
  const held = (await pages.get(`/pay/s/${id}`, speaking('de'))).headers.get('etag') ?? '';

  const same = await pages.get(`/pay/s/${id}`, { ...speaking('de'), 'If-None-Match': held });
  const other = await pages.get(`/pay/s/${id}`, { ...speaking('en'), 'If-None-Match': held });

  expect([same.status, other.status]).toEqual([304, 200]);
});

test('no text of a language is empty, or left in English', () => {
  const english = new Set(textsIn(ENGLISH).filter(text => text.includes(' ')));

  for (const texts of [GERMAN, ARABIC]) {
    expect(textsIn(texts).filter(text => text === '' || english.has(text))).toEqual([]);
    expect(textsIn(texts)).toHaveLength(textsIn(ENGLISH).length);
  }
});

test('numbers are written exactly, as in the language', () => {
  const number = '1234567.000000000000000001';

  expect([ENGLISH, GERMAN, ARABIC].map(texts => localNumber(texts, number))).toEqual([
    '1,234,567.000000000000000001',
    '1.234.567,000000000000000001',
    '1,234,567.000000000000000001',
  ]);
});
