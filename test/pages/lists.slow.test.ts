import { readFile } from 'node:fs/promises';

import { expect } from 'vitest';
import { list, record, text } from '../lab/json.ts';
import { readCsv } from '../support/csv.ts';
import { test } from './data-page.ts';
import { rowsOf } from './page-rows.ts';

const CHAIN = '/chain/31337';

/** An address that only received tokens, and one with transactions and transfers. */
async function addresses(url: string) {
  const ask = async (path: string) => record(await (await fetch(`${url}${path}chain_id=31337`)).json());
  const { items } = await ask('/explorer/token-transfers?');
  for (const item of list(items).map(record)) {
    const address = text(record(item.to).hash);
    const counters = await ask(`/explorer/addresses/${address}/counters?`);
    if (counters.transactions_count === '0' && counters.token_transfers_count !== '0')
      return { receiver: address, sender: text(record(item.from).hash) };
  }
  throw new Error('no address only received');
}

test('the page of a list is in the address: reload, a link and Back show the same', async ({
  page,
  complaints,
  browser,
  serviceOfBoth,
}) => {
  await page.goto(`${CHAIN}/blocks`);
  const first = await rowsOf(page, 'Blocks');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  const second = await rowsOf(page, 'Blocks');

  await page.reload();
  await page.getByText('Page 2').waitFor();
  const reloaded = await rowsOf(page, 'Blocks');
  const other = await browser.newPage({ baseURL: serviceOfBoth.url });
  await other.goto(page.url());
  await other.getByText('Page 2').waitFor();
  const shared = await rowsOf(other, 'Blocks');
  await other.close();
  await page.goBack();
  await page.getByText('Page 1').waitFor();
  const back = await rowsOf(page, 'Blocks');

  const numbers = (rows: readonly string[]) => rows.map(row => row.split('\t')[0]);
  expect(numbers(reloaded)).toEqual(numbers(second));
  expect(numbers(shared)).toEqual(numbers(second));
  expect(numbers(back)).toEqual(numbers(first));
  expect(numbers(second)).not.toEqual(numbers(first));
  expect(complaints).toEqual([]);
});

test('filters and tabs are in the address, and a filter shows the first page', async ({
  page,
  serviceOfBoth,
}) => {
  const { sender } = await addresses(serviceOfBoth.url);

  await page.goto(`${CHAIN}/address/${sender}?tab=transfers`);
  await rowsOf(page, 'Token transfers of the address');
  await page.getByRole('button', { name: 'Sent' }).click();
  await page.waitForURL(/direction=from/);
  await page.getByRole('group', { name: 'Standard' }).getByRole('button', { name: 'ERC-20' }).click();
  await page.waitForURL(/standard=ERC-20/);
  const rows = await rowsOf(page, 'Token transfers of the address');
  await page.reload();
  const reloaded = await rowsOf(page, 'Token transfers of the address');
  const pressed = await page.getByRole('button', { name: 'Sent' }).getAttribute('aria-pressed');
  await page.getByRole('link', { name: /^Transactions/ }).click();
  await page.waitForURL(/tab=transactions$/);
  await page.goBack();

  expect(reloaded.length).toBe(rows.length);
  expect(pressed).toBe('true');
  await page.waitForURL(/standard=ERC-20/);
});

test('an address that only received tokens opens on its token transfers', async ({ page, serviceOfBoth }) => {
  const { receiver } = await addresses(serviceOfBoth.url);

  await page.goto(`${CHAIN}/address/${receiver}`);

  expect((await rowsOf(page, 'Token transfers of the address')).length).toBeGreaterThan(0);
});

test('times are ages or dates in all lists of a browser', async ({ page }) => {
  await page.goto(`${CHAIN}/blocks`);
  await rowsOf(page, 'Blocks');
  await page.getByRole('button', { name: 'Age, show as date' }).click();

  await page.getByRole('button', { name: 'Date, show as age' }).waitFor();
  await page.goto(`${CHAIN}/txs`);
  await rowsOf(page, 'Transactions');

  expect(await page.getByRole('button', { name: 'Date, show as age' }).count()).toBe(1);
  expect(await page.locator('tbody time').first().innerText()).toMatch(/\d{4}/);
});

test.for([390, 1280])(
  'each list of a chain has a page with a download, at %i px',
  async (width, { page, complaints }) => {
    await page.setViewportSize({ width, height: 900 });
    const lists = {
      blocks: 'Blocks',
      txs: 'Transactions',
      'token-transfers': 'Token transfers',
      'internal-txs': 'Internal transactions',
      tokens: 'Tokens',
      contracts: 'Verified contracts',
      accounts: 'Top accounts',
    };
    for (const [path, name] of Object.entries(lists)) {
      await page.goto(`${CHAIN}/${path}`);
      const rows = await rowsOf(page, name);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download CSV' }).click(),
      ]);

      const { rows: records } = readCsv(await readFile(await file.path(), 'utf8'));
      expect(records.length, path).toBeGreaterThanOrEqual(rows.length);
      expect(file.suggestedFilename()).toMatch(/^[a-z-]+-31337\.csv$/);
      expect(overflow, path).toBeLessThanOrEqual(0);
    }
    await page.goto(`${CHAIN}/pending`);
    await page.getByText('No transaction is waiting now').waitFor();
    expect(complaints).toEqual([]);
  },
);

test('the transactions of a sender before and after are a click away', async ({ page, serviceOfBoth }) => {
  const answer = await fetch(`${serviceOfBoth.url}/explorer/transactions?chain_id=31337`);
  const [newest] = list(record(await answer.json()).items).map(record);
  const nonce = Number(newest?.nonce);

  await page.goto(`${CHAIN}/tx/${text(newest?.hash)}`);
  await page.getByRole('button', { name: 'Previous of sender' }).click();
  await page.waitForURL(url => !url.pathname.endsWith(text(newest?.hash)));
  await page.getByRole('button', { name: 'Next of sender' }).click();
  await page.waitForURL(url => url.pathname.endsWith(text(newest?.hash)));

  expect(nonce).toBeGreaterThan(0);
});

test('a list has no tab stop for a copy button, and C copies the focused value', async ({
  browser,
  serviceOfBoth,
}) => {
  const context = await browser.newContext({
    baseURL: serviceOfBoth.url,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();

  await page.goto(`${CHAIN}/txs`);
  await rowsOf(page, 'Transactions');
  const link = page.getByRole('region', { name: 'Transactions' }).locator('tbody .reference a').first();
  await link.focus();
  await page.keyboard.press('c');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  const stops = await page.locator('tbody .copy:not([tabindex="-1"])').count();
  await context.close();

  expect(copied).toMatch(/^0x[0-9a-f]{64}$/);
  expect(stops).toBe(0);
});

test('an address has a QR code, which is loaded when it is opened', async ({
  page,
  complaints,
  serviceOfBoth,
}) => {
  const { receiver } = await addresses(serviceOfBoth.url);

  await page.goto(`${CHAIN}/address/${receiver}`);
  await page.getByText('QR code').click();
  const picture = page.getByRole('img', { name: `QR code of the address ${receiver}` });
  await picture.waitFor();

  await expect
    .poll(() => picture.evaluate(image => image instanceof HTMLImageElement && image.naturalWidth))
    .toBeGreaterThan(0);
  expect(complaints).toEqual([]);
});
