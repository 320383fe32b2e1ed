import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { list, record, text } from '../lab/json.ts';
import { test } from './data-page.ts';

const UNUSED = `0x${'12'.repeat(20)}`;
const field = (page: Page) => page.getByRole('combobox', { name: 'Search blocks' });

async function search(page: Page, typed: string): Promise<void> {
  await field(page).fill(typed);
  await field(page).press('Enter');
}

/** Lets a search wait for its page as long as the machine needs; otherwise it opens all results after a second. */
test.beforeEach(({ page }) =>
  page.addInitScript(`{
    const setTimeoutInFull = window.setTimeout;
    window.setTimeout = (run, ms, ...args) => setTimeoutInFull(run, ms === 1000 ? 30_000 : ms, ...args);
  }`),
);

describe('from a page of a chain', () => {
  test('a number that both chains have opens the block of this one', async ({ page, devnet }) => {
    const id = devnet.chains[1]?.id;
    await page.goto(`/chain/${id}`);

    await search(page, 'Block #12');

    await page.waitForURL(`**/chain/${id}/block/0x*`);
  });

  test('a complete address without activity opens, and its page says so', async ({ page, devnet }) => {
    const id = devnet.chains[1]?.id;
    await page.goto(`/chain/${id}`);

    await search(page, UNUSED.slice(2).toUpperCase());

    await page.waitForURL(`**/chain/${id}/address/${UNUSED}`);
    await page.getByText('No activity of this address').waitFor();
  });

  test('a hash of another chain opens there', async ({ page, devnet, views }) => {
    const hash = views[0]?.transactions.at(-1)?.hash ?? '';
    await page.goto(`/chain/${devnet.chains[1]?.id}`);

    await search(page, `https://scan.example/tx/${hash}?tab=logs`);

    await page.waitForURL(`**/chain/${devnet.chains[0]?.id}/tx/${hash}`);
  });

  test('its suggestions and results come first', async ({ page, devnet }) => {
    const [, second] = devnet.chains;
    await page.goto(`/chain/${second?.id}`);

    await field(page).pressSequentially('usds');
    await expect
      .poll(async () => new Set(await page.getByRole('option').locator('.small').allInnerTexts()).size)
      .toBeGreaterThan(1);
    expect(await page.getByRole('option').first().innerText()).toContain(second?.name);
    await field(page).press('Enter');

    await page.waitForURL(`**/search?q=usds&chain_id=${second?.id}`);
    await page.getByRole('region', { name: 'Results on' }).first().waitFor();
    expect(await page.locator('main .card h2').first().innerText()).toBe(second?.name);
  });
});

test('from the home page, an address of one chain opens there, one of none on the first', async ({
  page,
  devnet,
}) => {
  await page.goto('/');
  await search(page, UNUSED);
  await page.waitForURL(`**/chain/${devnet.chains[0]?.id}/address/${UNUSED}`);
});

test('the address of a page of a chain that is not here says so, and searches the chains here', async ({
  page,
}) => {
  await page.goto('/search');

  await search(page, `https://etherscan.io/token/${UNUSED}`);

  await page.waitForURL(`**/token/${UNUSED}`);
  await page.goto(`/search?q=${encodeURIComponent('https://etherscan.io/tx/0x'.concat('34'.repeat(32)))}`);
  await page.getByText('etherscan.io is an explorer of chain 1, which this server does not have.').waitFor();
});

test('a path without a chain leads to the chain that has the record', async ({ page, devnet, views }) => {
  const hash = views[1]?.transactions.at(-1)?.hash ?? '';

  await page.goto(`/tx/${hash}`);

  await page.waitForURL(`**/chain/${devnet.chains[1]?.id}/tx/${hash}`);
});

describe('a record of another chain', () => {
  test.for(['tx', 'block'])(
    'is linked from the page of a missing %s',
    async (kind, { page, devnet, api }) => {
      const [first, second] = devnet.chains;
      const { body } = await api.get(`/explorer/main-page/${kind === 'tx' ? 'transactions' : 'blocks'}`);
      const hash = text(record(list(body)[0]).hash);
      let asked = 0;
      await page.route('**/explorer/search/check-redirect?*', route => {
        asked += 1;
        return route.continue();
      });

      const response = await page.goto(`/chain/${second?.id}/${kind}/${hash}`);
      const place = page.getByRole('status').getByRole('link', { name: first?.name ?? '' });

      expect(await place.getAttribute('href')).toBe(`/chain/${first?.id}/${kind}/${hash}`);
      expect([response?.status(), asked]).toEqual([404, 1]);
    },
  );

  test('is linked from the page of an address or a token that only the other chain has', async ({
    page,
    devnet,
    views,
  }) => {
    const [first, second] = devnet.chains;
    const own = new Set(views[1]?.transactions.flatMap(({ from, to }) => [from, to]));
    const theirs = views[0]?.transactions.map(({ to }) => to).find(to => to !== null && !own.has(to));

    for (const kind of ['address', 'token']) {
      await page.goto(`/chain/${second?.id}/${kind}/${theirs}`);
      await page.getByText(`This address is on ${first?.name}`).waitFor();
    }
  });
});

describe('a name in the path of an address', () => {
  test('leads to the page of its address, with the same tab', async ({ page, devnet }) => {
    const id = devnet.chains[0]?.id;

    await page.goto(`/chain/${id}/address/alice.eth?tab=tokens`);

    await page.waitForURL(`**/chain/${id}/address/0x*?tab=tokens`);
  });

  test('without an address is a page that says so', async ({ page, devnet }) => {
    await page.goto(`/chain/${devnet.chains[0]?.id}/address/nobody-is-called-so.eth`);

    await page.getByText('No address is known by this name').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('nobody-is-called-so.eth');
  });
});

test('the latest block has an address', async ({ page, devnet }) => {
  const id = devnet.chains[0]?.id;

  await page.goto(`/chain/${id}/block/latest`);

  await page.waitForURL(url => new RegExp(`^/chain/${id}/block/\\d+$`).test(url.pathname));
});

test('the key / focuses the search, except where a text is typed', async ({ page, complaints }) => {
  await page.goto('/playground');
  await page.locator('kbd').waitFor();

  await page.keyboard.press('/');
  await page.keyboard.type('a/b');
  const isFocused = await field(page).evaluate(one => one === document.activeElement);
  expect([isFocused, await field(page).inputValue()]).toEqual([true, 'a/b']);
  expect(await page.locator('kbd').isVisible()).toBe(false);

  const other = page.locator('main input[type=text], main input:not([type])').first();
  await other.focus();
  await page.keyboard.press('/');
  expect(await other.evaluate(one => one === document.activeElement)).toBe(true);
  expect(complaints).toEqual([]);
});

test.for([390, 1280])('shows the search without overflow at %i px', async (width, { page, devnet }) => {
  await page.setViewportSize({ width, height: 800 });
  await page.goto(`/search?q=${UNUSED}&chain_id=${devnet.chains[1]?.id}`);
  await page.getByText('This address has no activity on this chain').first().waitFor();

  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});
