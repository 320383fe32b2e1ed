import type { Page } from 'playwright-core';
import { getAddress } from 'viem';
import { expect } from 'vitest';
import type { CheckoutSession } from '#payments/model/session.ts';
import { record } from '../../lab/json.ts';
import { test as withBrowser } from '../../support/browser.ts';
import { type ServedPages, servePages } from '../../support/checkout-pages.ts';

const HASH = `0x${'4f'.repeat(32)}`;
const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

const SCHEMES = ['light', 'dark'] as const;
const PHONE = { width: 320, height: 720 };
const DESK = { width: 1280, height: 720 };

/** Paths of one page of every kind, with texts that are hard to fit. */
async function everyPage(pages: ServedPages): Promise<string[]> {
  const link = await pages.link({
    name: LONG,
    description: LONG,
    themeColor: '#ffe600',
    amount: null,
    minAmount: 1n,
    buttonText: 'Donate to the whole orchestra now',
    collectShippingAddress: true,
    formSchema: {
      fields: (['text', 'email', 'phone', 'select', 'textarea', 'number', 'checkbox'] as const).map(type => ({
        id: type,
        type,
        label: `${type} ${LONG}`,
        required: true,
        placeholder: type === 'checkbox' ? null : 'For example',
        options: type === 'select' ? ['S', LONG] : [],
      })),
    },
    shippingOptions: [
      { id: 'a', name: LONG, amount: String(10n ** 60n), estimated_days: 1 },
      { id: 'b', name: 'Slow', amount: '0', estimated_days: null },
    ],
  });
  const priced = await pages.link({ name: LONG, amount: 10n ** 40n + 1n });
  const byAddress = await pages.link({
    name: LONG,
    amount: 10n ** 40n + 1n,
    paymentMethod: 'deposit_address',
  });
  const part = {
    paymentStatus: 'underpaid',
    amountReceived: 1n,
    payerAddress: `0x${'3c'.repeat(20)}`,
    txHash: HASH,
  } as const;
  const states: Partial<CheckoutSession>[] = [
    {},
    { txHash: HASH },
    { paymentStatus: 'confirming', confirmations: 1, txHash: HASH },
    part,
    { paymentStatus: 'failed', failureReason: 'reverted', txHash: HASH },
    { status: 'completed', paymentStatus: 'paid', txHash: HASH, successUrl: 'https://books.example/' },
    { status: 'expired', paymentStatus: 'underpaid', isLate: true, amountReceived: 5n, txHash: HASH },
    { status: 'expired', paymentStatus: 'paid', isLate: true, amountReceived: 10n ** 40n + 1n, txHash: HASH },
    { status: 'expired', endedReason: 'sold_out' },
    { status: 'completed', paymentStatus: 'paid', amountOverpaid: 10n ** 40n, txHash: HASH },
    { status: 'expired' },
  ];
  const sessions = await Promise.all([
    ...states.map(state => pages.session(priced, {}, state)),
    ...[{}, part].map(state => pages.session(byAddress, {}, state)),
  ]);
  return [`/pay/${link.shortCode}`, ...sessions.map(({ id }) => `/pay/s/${id}`), '/pay/unknown'];
}

/** Accessibility findings of one page. */
interface Look {
  readonly path: string;
  /** In CSS pixels on a small phone, in each colour scheme. */
  readonly widths: unknown[];
  readonly outline: unknown;
  /** Elements without a name, duplicate ids, and references to missing ids. */
  readonly unnamed: unknown;
  /** Texts with too little contrast, in each colour scheme. */
  readonly faint: unknown[];
}

async function look(page: Page, path: string): Promise<Look> {
  const widths: unknown[] = [];
  const faint: unknown[] = [];
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    faint.push(await page.evaluate(FAINT));
    await page.setViewportSize(PHONE);
    widths.push(await page.evaluate('document.documentElement.scrollWidth'));
    await page.setViewportSize(DESK);
  }
  return {
    path,
    widths,
    faint,
    outline: await page.evaluate(OUTLINE),
    unnamed: await page.evaluate(UNNAMED),
  };
}

const OUTLINE = `({
  lang: document.documentElement.lang,
  mains: document.querySelectorAll('main').length,
  headings: document.querySelectorAll('h1').length,
  hasTitle: document.title.length > 0,
  skips: document.querySelector(document.querySelector('.skip').getAttribute('href')) !== null,
  unnamed: [...document.querySelectorAll('section')].filter(
    one => !one.ariaLabel && document.getElementById(one.getAttribute('aria-labelledby')) === null,
  ).length,
})`;

const UNNAMED = `(() => {
  const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  const dangling = [...document.querySelectorAll('[aria-describedby]')]
    .flatMap(one => one.getAttribute('aria-describedby').split(' '))
    .filter(id => document.getElementById(id) === null);
  const fields = [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
    .filter(one => one.labels.length === 0).map(one => one.name);
  const controls = [...document.querySelectorAll('button, a')]
    .filter(one => (one.ariaLabel ?? one.textContent).trim() === '').map(one => one.outerHTML);
  const pictures = [...document.querySelectorAll('img:not([alt]), svg:not([aria-hidden]):not([aria-label])')]
    .map(one => one.outerHTML);
  return [...twice, ...dangling, ...fields, ...controls, ...pictures];
})()`;

const FAINT = `(() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = one => {
    for (let place = one; place !== null; place = place.parentElement) {
      const colour = channels(getComputedStyle(place).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.body.querySelectorAll('*')]
    .filter(one => one.checkVisibility() && !one.closest(':disabled, select') &&
      [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== ''))
    .map(one => {
      const pair = [light(channels(getComputedStyle(one).color)), light(behind(one))].sort((a, b) => a - b);
      return { text: one.textContent.slice(0, 40), ratio: (pair[1] + 0.05) / (pair[0] + 0.05) };
    })
    .filter(({ ratio }) => ratio < 4.5);
})()`;

const test = withBrowser
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('pages', { scope: 'file' }, async ({}, { onCleanup }): Promise<ServedPages> => {
    const pages = await servePages();
    onCleanup(() => pages[Symbol.asyncDispose]());
    return pages;
  })
  /** The findings of every page, collected once. */
  .extend('looks', { scope: 'file' }, async ({ browser, pages }): Promise<readonly Look[]> => {
    const page = await browser.newPage({ viewport: DESK });
    // The API is not behind these pages, so polling would only fail.
    await page.route('**/api/**', route => route.fulfill({ status: 304 }));
    const looks: Look[] = [];
    for (const path of await everyPage(pages)) {
      await page.goto(pages.url + path);
      looks.push(await look(page, path));
    }
    await page.close();
    return looks;
  });

test('no page is wider than a small phone, in light or dark mode', ({ looks }) => {
  expect(looks).not.toEqual([]);
  for (const { path, widths } of looks)
    expect({ path, widths }).toEqual({ path, widths: [PHONE.width, PHONE.width] });
});

test('every page has one language, one main part, one first heading and a title', ({ looks }) => {
  const outline = { lang: 'en', mains: 1, headings: 1, hasTitle: true, skips: true, unnamed: 0 };

  for (const { path, outline: found } of looks)
    expect({ path, ...record(found) }).toEqual({ path, ...outline });
});

test('every field, button, link and picture has a name, and no id is given twice', ({ looks }) => {
  for (const { path, unnamed } of looks) expect({ path, unnamed }).toEqual({ path, unnamed: [] });
});

test('all texts have enough contrast with their background, in light and dark mode', ({ looks }) => {
  for (const { path, faint } of looks) expect({ path, faint }).toEqual({ path, faint: [[], []] });
});

test('the QR code is dark on light even in dark mode', async ({ browser, pages }) => {
  const page = await browser.newPage({ colorScheme: 'dark' });
  const session = await pages.session(await pages.link());
  await page.route('**/api/**', route => route.fulfill({ status: 304 }));

  await page.goto(`${pages.url}/pay/s/${session.id}`);
  const [rect, path] = await Promise.all(
    ['rect', 'path'].map(part => page.locator(`.qr ${part}`).first().getAttribute('fill')),
  );

  expect([rect, path]).toEqual(['#ffffff', '#000000']);
  await page.close();
});

test('without scripts a page still shows how to pay, and offers no button that needs them', async ({
  browser,
  pages,
}) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const link = await pages.link();
  const session = await pages.session(link);

  await page.goto(`${pages.url}/pay/s/${session.id}`);
  expect(await page.getByText(getAddress(link.recipientAddress), { exact: true }).first().isVisible()).toBe(
    true,
  );
  expect(await page.locator('.qr').first().isVisible()).toBe(true);
  expect(await page.getByRole('button', { disabled: false }).count()).toBe(0);

  await page.goto(`${pages.url}/pay/${link.shortCode}`);
  expect(await page.getByRole('button').isDisabled()).toBe(true);
  await context.close();
});
