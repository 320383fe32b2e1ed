import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { test as withBrowser } from '../support/browser.ts';
import { smallTargetsOf } from '../support/page-faults.ts';
import { ADDRESS, CHAIN, LISTS, startHostileBlockscout, TOKEN, TRANSACTION } from './hostile-blockscout.ts';

const WIDTHS = [390, 1280, 1440, 1920];

const test = withBrowser
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('service', { scope: 'file' }, async ({}, { onCleanup }) => {
    const service = await startHostileBlockscout();
    onCleanup(() => service[Symbol.asyncDispose]());
    return service;
  })
  .extend('page', async ({ browser, service }, { onCleanup }): Promise<Page> => {
    const page = await browser.newPage({ baseURL: `${service.url}/chain/${CHAIN}/` });
    onCleanup(() => page.close());
    return page;
  });

/** Opens a page below the chain, waits for the rows of its list, and unfolds all of them. */
async function openList(page: Page, path: string): Promise<void> {
  await page.goto(`/chain/${CHAIN}${path}`);
  await page.locator('.table tbody tr').first().waitFor({ state: 'attached' });
  await page.evaluate(() => {
    for (const folded of document.querySelectorAll('details')) folded.open = true;
  });
}

test('no list has a column that is cut off or scrolls, whatever strangers call their tokens', async ({
  page,
}) => {
  const cut: string[] = [];
  for (const path of LISTS) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await openList(page, path);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const tooWide = await page.evaluate(() =>
        [document.documentElement, ...document.querySelectorAll('.table')].flatMap(one =>
          one.scrollWidth > one.clientWidth
            ? [`${one.className}: ${one.scrollWidth} of ${one.clientWidth}`]
            : [],
        ),
      );
      cut.push(...tooWide.map(what => `${width} px, ${path}: ${what}`));
    }
  }

  expect(cut).toEqual([]);
}, 300_000);

test('on a phone a row is a card that names each value, and is still a row of a table', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 900 });
  await openList(page, `/address/${ADDRESS}?tab=transactions`);
  const row = page.getByRole('table').getByRole('row').nth(1);

  expect(await row.getByRole('cell').count()).toBe(await page.getByRole('columnheader').count());
  const names = await row
    .getByRole('cell')
    .evaluateAll(cells =>
      cells.filter(cell => cell.clientHeight > 0).map(cell => getComputedStyle(cell, '::before').content),
    );
  for (const name of ['Age', 'From', 'To', 'Value', 'Fee']) expect(names.join()).toContain(`"${name}"`);
});

test('a long amount is short on the screen, and exact in a copy, the title and for screen readers', async ({
  page,
}) => {
  await page.goto(`/chain/${CHAIN}/tx/${TRANSACTION}`);
  const value = page.locator('.facts div', { hasText: /^Value/ }).locator('dd');
  await value.locator('.short').waitFor();

  const exact = `${'9'.repeat(60)}.${'9'.repeat(18)}`.replace(/\B(?=(?:\d{3})+\.)/g, ',');
  const short = value.locator('.short');
  await short.click();
  const copied = await page.evaluate(() => getSelection()?.toString());

  expect(await short.evaluate(one => getComputedStyle(one, '::before').content)).toBe('"9.99999…×10⁵⁹" / ""');
  expect(copied).toBe(exact);
  expect(await short.getAttribute('title')).toBe(exact);
  expect(await value.ariaSnapshot()).toContain(exact);
  expect(await value.ariaSnapshot()).not.toContain('…×10');
});

test('From and To show their addresses, with the names and whose they are', async ({ page }) => {
  await page.goto(`/chain/${CHAIN}/tx/${TRANSACTION}`);
  const party = (name: string) =>
    page.locator('.facts div', { has: page.getByText(name, { exact: true }) }).locator('dd');
  await party('From').waitFor();

  for (const name of ['From', 'To']) {
    const shown = await party(name).innerText();
    expect(shown).toMatch(/^0x[0-9a-fA-F]{40}/);
    expect(shown).toMatch(/ENS|verified|own name|label/);
    expect(shown).toContain('scam');
    expect(shown).not.toContain('\u202e');
    expect(await party(name).locator('bdi').count()).toBe(1);
  }
});

test('amounts have their value at today’s rate, and a holder the sum', async ({ page }) => {
  await page.goto(`/chain/${CHAIN}/tx/${TRANSACTION}`);
  const fee = page.locator('.facts div', { hasText: /^Transaction fee/ }).locator('dd');
  expect(await fee.locator('.worth').getAttribute('title')).toBe(
    'At today’s rate of $3,150.25, not that of the time',
  );

  await page.goto(`/chain/${CHAIN}/address/${ADDRESS}?tab=tokens`);
  const portfolio = page.locator('.facts div', { hasText: /^Portfolio/ }).locator('dd');
  await expect
    .poll(() => portfolio.innerText())
    .toMatch(/^\$.+ coins and 0 tokens with a price, at today’s rates/);
  await page.getByText(/tokens? marked as a scam/).waitFor();
});

/** A token balance of an address, as a Blockscout lists it. */
function holding(symbol: string, value: string, rate: string | null, reputation = 'ok') {
  const address_hash = `0x${Buffer.from(symbol).toString('hex').padStart(40, '0')}`;
  const supply = { total_supply: '1000000000000', holders_count: '2', decimals: '6' };
  const token = {
    address_hash,
    symbol,
    name: `${symbol} of ours`,
    type: 'ERC-20',
    exchange_rate: rate,
    reputation,
  };
  return { token: { ...token, ...supply }, token_id: null, token_instance: null, value };
}

test('tokens are sorted by value, and what has no price or is a scam is folded', async ({ browser }) => {
  const items = [
    holding('FEW', '5000000', '1'),
    holding('MANY', '20500000', '2.5'),
    holding('NONE', '7000000', null),
    holding('FAKE', '1000000', '1000000', 'scam'),
    ...['A', 'B', 'C', 'D'].map(symbol => holding(symbol, '1', null)),
  ];
  await using service = await startHostileBlockscout({
    [`/addresses/${ADDRESS.toLowerCase()}/tokens`]: { items, next_page_params: null },
  });
  const page = await browser.newPage();
  await page.goto(`${service.url}/chain/${CHAIN}/address/${ADDRESS}?tab=tokens`);
  const rows = page.getByRole('region', { name: 'Tokens of the address' }).locator('tbody tr');
  await rows.first().waitFor();

  expect((await rows.allInnerTexts()).map(row => row.split(/\s/)[0])).toEqual(['MANY', 'FEW']);
  expect(await page.locator('main').innerText()).toContain('$56.25 of this page at today’s rates');
  await page.getByText('5 tokens without a price').waitFor();
  await page.getByText('1 token marked as a scam').waitFor();
  const portfolio = page.locator('.facts div', { hasText: /^Portfolio/ });
  await expect.poll(() => portfolio.innerText()).toContain('2 tokens with a price');

  await page.getByRole('searchbox', { name: 'Filter the tokens of this page' }).fill('few of');
  await expect.poll(() => rows.count()).toBe(1);
  await page.close();
});

test('the portfolio of an index counts priced tokens behind a page of worthless ones', async ({ page }) => {
  const held = (rate: string | null) => ({
    ...holding('ANY', '20500000', rate),
    token: {
      address: ADDRESS,
      name: 'Any',
      symbol: 'ANY',
      type: 'ERC-20',
      decimals: '6',
      exchange_rate: rate,
    },
  });
  const pages = {
    first: { items: Array.from({ length: 50 }, () => held(null)), next_page_params: { cursor: 'next' } },
    next: { items: [held('2')], next_page_params: null },
  };
  await page.route(/\/addresses\/[^/]+\/tokens/, route => {
    const isNext = new URL(route.request().url()).searchParams.get('cursor') === 'next';
    return route.fulfill({ json: pages[isNext ? 'next' : 'first'], headers: { 'X-Backend': 'index-1' } });
  });

  await page.goto(`/chain/${CHAIN}/address/${ADDRESS}`);

  const portfolio = page.locator('.facts div', { hasText: /^Portfolio/ });
  await portfolio.getByText('1 token with a price').waitFor();
  expect(await portfolio.innerText()).not.toContain('of the first 250');
});

test('a sum of which a part could not be read is a problem with a retry, and no smaller sum', async ({
  page,
}) => {
  let isDown = true;
  await page.route(/\/addresses\/[^/]+\/(?:tokens|token-transfers)/, route =>
    isDown
      ? route.fulfill({ status: 502, json: { message: 'No back end had an answer' } })
      : route.fulfill({ json: { items: [], next_page_params: null } }),
  );
  await page.route(/\/coin-balance-history/, route =>
    route.fulfill({ status: 501, json: { message: 'No' } }),
  );
  await page.goto(`/chain/${CHAIN}/address/${ADDRESS}`);
  const rows = ['Portfolio', 'Received today'].map(name =>
    page.locator('.facts div', { hasText: new RegExp(`^${name}`) }),
  );
  await rows[1]?.getByRole('button', { name: 'Add up' }).click();

  for (const row of rows) {
    await row.getByText('No back end had an answer').waitFor();
    expect(await row.innerText()).not.toContain('$');
  }
  isDown = false;
  for (const row of rows) {
    await row.getByRole('button', { name: 'Try again' }).click();
    await row.getByText('$').waitFor();
  }
});

test('results of a search show the mark of a scam, and no text that turns', async ({ page }) => {
  await page.goto('/search?q=WWW');
  const rows = page.getByRole('region', { name: /^Results on/ }).locator('tbody tr');
  await rows.first().waitFor();

  const [first = ''] = await rows.allInnerTexts();
  expect(first).toContain('marked as a scam');
  expect(first).toContain('\ufffdWWW');
});

test('a chain shows what gas costs at each speed, and the price of its coin', async ({ page }) => {
  await page.goto(`/chain/${CHAIN}`);
  const tiles = page.locator('.tiles');
  // The tiles are there before their figures.
  await tiles.getByText('Market cap').waitFor();
  const shown = await tiles.innerText();

  expect(shown).toMatch(/Gas price, slow\s+4.1 Gwei\s+\$0.2524 a transfer/);
  expect(shown).toMatch(/Coin price\s+\$2,931.14\s+−1.40 % in 24 hours/);
  expect(shown).toMatch(/Market cap\s+\$352.1B/);
});

test('an address with a name is titled by what it is, and a token by its name, both on one line', async ({
  page,
}) => {
  await page.goto(`/chain/${CHAIN}/address/${ADDRESS}`);
  await page.getByRole('heading', { level: 1, name: /^(?:Contract|Address)$/ }).waitFor();

  await page.goto(`/chain/${CHAIN}/token/${TOKEN}`);
  await page.getByRole('heading', { level: 1, name: /^\ufffdWWWW/ }).waitFor();
});

test('links and buttons are large enough to be hit, and far enough from each other', async ({
  page,
  service,
}) => {
  const found: Record<string, string[]> = {};
  const below = [
    '',
    '?tab=tokens',
    `/tx/${TRANSACTION}`,
    `/address/${ADDRESS}`,
    `/token/${TOKEN}`,
    '/block/19854321',
  ];
  for (const path of ['/', ...below.map(one => `/chain/${CHAIN}${one}`)]) {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${service.url}${path}`);
      await page.locator('main :is(.table, .tiles, .facts)').first().waitFor();
      const small = await smallTargetsOf(page);
      if (small.length > 0) found[`${width} px, ${path}`] = small;
    }
  }

  expect(found).toEqual({});
}, 120_000);
