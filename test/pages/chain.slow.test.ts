import { expect } from 'vitest';
import { test } from './data-page.ts';

test('a chain’s page has its figures, its charts, and lists that page by cursor', async ({
  page,
  complaints,
  devnet,
  views,
}) => {
  const [chain] = devnet.chains;
  const height = views[0]?.blocks.length ?? 0;

  await page.goto(`/chain/${chain?.id}`);
  await page.getByRole('heading', { name: chain?.name ?? '', level: 1 }).waitFor();
  const blocks = page.getByRole('region', { name: 'Blocks' });
  await blocks.getByRole('link', { name: String(height), exact: true }).waitFor();
  await page.getByRole('button', { name: 'Next' }).click();

  await page.getByText('Page 2').waitFor();
  await blocks.getByRole('link', { name: String(height - 50), exact: true }).waitFor();
  expect(await page.getByRole('img', { name: 'Chart: transactions per day' }).count()).toBe(1);
  expect(complaints).toEqual([]);
});

test('each list of a chain has its own address', async ({ page, complaints, devnet }) => {
  const [chain] = devnet.chains;
  const shown = {
    transactions: 'Transaction',
    transfers: 'Amount',
    internal: 'Gas limit',
    tokens: 'Total supply',
    contracts: 'Compiler',
    accounts: 'Balance',
  };

  for (const [tab, column] of Object.entries(shown)) {
    await page.goto(`/chain/${chain?.id}?tab=${tab}`);
    await page.getByRole('columnheader', { name: column, exact: true }).waitFor();
  }
  expect(complaints).toEqual([]);
});

test('an unknown chain is a 404 that names the served ones', async ({ page, devnet }) => {
  for (const path of ['/chain/5', '/chain/5/block/1']) {
    const response = await page.goto(path);

    expect(response?.status()).toBe(404);
    await page.getByRole('heading', { name: 'No chain 5 here' }).waitFor();
    for (const { id, name } of devnet.chains) {
      const link = page.getByRole('main').getByRole('link', { name });
      expect(await link.getAttribute('href')).toBe(`/chain/${id}`);
    }
  }
});

test('an unknown path below a chain is a 404 with a link home', async ({ page, devnet, serviceOfBoth }) => {
  const id = devnet.chains[0]?.id;

  const response = await page.goto(`/chain/${id}/nowhere`);

  expect(response?.status()).toBe(404);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  expect(await page.getByRole('link', { name: 'Home' }).getAttribute('href')).toBe('/');
  for (const path of ['/chain', '/chain/', `/chain/${id}/block`]) {
    expect((await fetch(new URL(path, serviceOfBoth.url))).status).toBe(404);
  }
});
