import { expect } from 'vitest';
import { list, record } from '../lab/json.ts';
import { test } from './data-page.ts';

test('a block’s page shows its gas, and links to its neighbours', async ({ chain, page, complaints }) => {
  await page.goto(`/chain/${chain.id}/block/30`);
  await page.getByRole('heading', { name: 'Block 30' }).waitFor();

  expect(await page.locator('.facts').nth(1).innerText()).toMatch(
    /Gas used\s+[\d,]+ of 30,000,000 \([\d.]+ %\)/,
  );
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByRole('heading', { name: 'Block 31' }).waitFor();
  await page.getByRole('link', { name: 'Previous' }).click();
  await page.getByRole('heading', { name: 'Block 30' }).waitFor();
  expect(complaints).toEqual([]);
});

test('a full block pages through its transactions, each with a link to its page', async ({
  chain,
  api,
  page,
  complaints,
}) => {
  const { body } = await api.get('/explorer/blocks');
  const blocks = list(record(body).items).map(record);
  const full = blocks.find(({ transaction_count }) => Number(transaction_count) > 50);

  await page.goto(`/chain/${chain.id}/block/${full?.hash}?tab=transactions`);
  const rows = page.getByRole('region', { name: 'Transactions of the block' }).locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(50);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  expect(await rows.count()).toBe(Number(full?.transaction_count) - 50);
  await rows.first().getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Transaction' }).waitFor();
  expect(complaints).toEqual([]);
});

test('a block that does not exist yet and an invalid block have their own messages', async ({
  chain,
  page,
}) => {
  await page.goto(`/chain/${chain.id}/block/99999999`);
  await page.getByText('This block does not exist yet.').waitFor();

  await page.goto(`/chain/${chain.id}/block/newest`);
  await page.getByText('A block is named by its number, or by its hash').waitFor();
});

test('pages of blocks and transactions tell of proofs as the API does', async ({ chain, api, page }) => {
  const { body } = await api.get('/explorer/blocks');
  const filled = list(record(body).items)
    .map(record)
    .filter(({ transaction_count }) => Number(transaction_count) > 0);
  const shown = { true: 'proven', false: 'not recomputed' };
  const blocks = [true, false]
    .map(is => filled.find(({ proven }) => proven === is))
    .filter(Boolean)
    .map(record);
  expect(blocks.length).toBeGreaterThan(0);

  for (const { hash, height, proven } of blocks) {
    const word = shown[`${proven === true}`];
    await page.goto(`/chain/${chain.id}/block/${hash}`);
    const title = page.getByRole('heading', { level: 1 });
    await title.getByText(word, { exact: true }).waitFor();
    const inBlock = await api.get(`/explorer/blocks/${height}/transactions`);
    const [first] = list(record(inBlock.body).items).map(record);
    await page.goto(`/chain/${chain.id}/tx/${first?.hash}`);
    await title.getByText(word, { exact: true }).waitFor();
  }
});
