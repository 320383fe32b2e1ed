import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CheckoutSession } from '#payments/model/session.ts';
import { launchBrowser } from '../../support/browser.ts';
import { type ServedPages, servePages } from '../../support/checkout-pages.ts';

const HASH = `0x${'4f'.repeat(32)}`;
const LONG = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';

let pages: ServedPages;
let browser: Browser;
beforeAll(async () => {
  [pages, browser] = await Promise.all([servePages(), launchBrowser()]);
});
afterAll(() => Promise.all([pages[Symbol.asyncDispose](), browser.close()]));

/** One page of every kind, with texts that are hard to fit. */
async function everyPage(): Promise<string[]> {
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
  const states: Partial<CheckoutSession>[] = [
    {},
    { txHash: HASH },
    { paymentStatus: 'confirming', confirmations: 1, txHash: HASH },
    { paymentStatus: 'underpaid', amountReceived: 1n, payerAddress: `0x${'3c'.repeat(20)}`, txHash: HASH },
    { paymentStatus: 'failed', failureReason: 'reverted', txHash: HASH },
    { status: 'completed', paymentStatus: 'paid', txHash: HASH, successUrl: 'https://books.example/' },
    { status: 'expired', isLate: true, amountReceived: 5n, txHash: HASH },
    { status: 'expired' },
  ];
  const sessions = await Promise.all(states.map(state => pages.session(priced, {}, state)));
  return [`/pay/${link.shortCode}`, ...sessions.map(({ id }) => `/pay/s/${id}`), '/pay/unknown'];
}

async function eachPage(
  options: Parameters<Browser['newPage']>[0],
  look: (page: Page, path: string) => Promise<void>,
): Promise<void> {
  const page = await browser.newPage(options);
  // The API is not behind these pages, so polling would only fail.
  await page.route('**/api/**', route => route.fulfill({ status: 304 }));
  for (const path of await everyPage()) {
    await page.goto(pages.url + path);
    await look(page, path);
  }
  await page.close();
}

test.each(['light', 'dark'] as const)('no page is wider than a small phone, %s', async colorScheme => {
  await eachPage({ viewport: { width: 360, height: 720 }, colorScheme }, async (page, path) => {
    const width = await page.evaluate('document.documentElement.scrollWidth');

    expect({ path, width }).toEqual({ path, width: 360 });
  });
});

test('every page has one language, one main part, one first heading and a title', async () => {
  await eachPage({}, async page => {
    const facts = await page.evaluate(`({
      lang: document.documentElement.lang,
      mains: document.querySelectorAll('main').length,
      headings: document.querySelectorAll('h1').length,
      hasTitle: document.title.length > 0,
      skips: document.querySelector(document.querySelector('.skip').getAttribute('href')) !== null,
      unnamed: [...document.querySelectorAll('section')].filter(
        one => !one.ariaLabel && document.getElementById(one.getAttribute('aria-labelledby')) === null,
      ).length,
    })`);

    expect(facts).toEqual({ lang: 'en', mains: 1, headings: 1, hasTitle: true, skips: true, unnamed: 0 });
  });
});

test('every field, button, link and picture has a name, and no id is given twice', async () => {
  await eachPage({}, async (page, path) => {
    const faults = await page.evaluate(`(() => {
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
    })()`);

    expect({ path, faults }).toEqual({ path, faults: [] });
  });
});

test('texts can be read on what is behind them, light and dark', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await eachPage({ colorScheme }, async (page, path) => {
      const faint = await page.evaluate(`(() => {
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
      })()`);

      expect({ path, colorScheme, faint }).toEqual({ path, colorScheme, faint: [] });
    });
  }
});

test('the code is dark on light in dark mode, too', async () => {
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

test('without scripts a page still shows how to pay, and offers no button that needs them', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  const link = await pages.link();
  const session = await pages.session(link);

  await page.goto(`${pages.url}/pay/s/${session.id}`);
  expect(await page.getByText(link.recipientAddress, { exact: true }).first().isVisible()).toBe(true);
  expect(await page.locator('.qr').first().isVisible()).toBe(true);
  expect(await page.getByRole('button', { disabled: false }).count()).toBe(0);

  await page.goto(`${pages.url}/pay/${link.shortCode}`);
  expect(await page.getByRole('button').isDisabled()).toBe(true);
  await context.close();
});
