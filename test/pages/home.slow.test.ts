import { expect } from 'vitest';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { test } from './data-page.ts';

test('the home shows every chain with its latest block and the state of its back ends', async ({
  page,
  complaints,
  devnet,
  views,
}) => {
  await page.goto('/');

  for (const [index, { name }] of devnet.chains.entries()) {
    const card = page.getByRole('region', { name, exact: true });
    await card.getByText('up to date').waitFor();
    expect(await card.locator('.figure').textContent()).toBe(String(views[index]?.blocks.length));
  }
  await page.getByRole('img', { name: 'Chart: transactions per day' }).waitFor();
  await page.getByRole('img', { name: 'Chart: gas used per day' }).waitFor();
  expect(complaints).toEqual([]);
});

test('the chosen chain is part of the address, and its blocks are shown', async ({ page, devnet }) => {
  const [, other] = devnet.chains;
  await page.goto('/');

  await page
    .getByRole('region', { name: other?.name ?? '', exact: true })
    .getByRole('button')
    .click();
  await page.getByRole('heading', { name: other?.name ?? '', level: 2 }).waitFor();
  expect(new URL(page.url()).searchParams.get('chain')).toBe(String(other?.id));
  await page.reload();
  await page.getByRole('heading', { name: other?.name ?? '', level: 2 }).waitFor();
  const newest = page.getByRole('region', { name: 'Latest blocks' }).getByRole('link').first();
  expect(await newest.getAttribute('href')).toMatch(new RegExp(`^/chain/${other?.id}/block/\\d+$`));
});

test('a new block appears without a reload', async ({ browser }) => {
  await using devnet = await startTestDevnet({ blocks: 2 });
  await using service = await startTestDataService(devnet.chains);
  const page = await browser.newPage({ baseURL: service.url });
  await page.goto('/');
  const blocks = page.getByRole('region', { name: 'Latest blocks' });
  await blocks.getByRole('link', { name: '2', exact: true }).waitFor();

  await httpRpc(devnet.chains[0]?.rpcUrl ?? '').call('evm_mine');

  await blocks.getByRole('link', { name: '3', exact: true }).waitFor();
  await page.close();
});

test('a chain without a block is shown with a plain message and without an error', async ({
  page,
  complaints,
}) => {
  const pids = { supervisor: 0, engine: 0 };
  const nowhere = { id: 77, name: 'Empty chain', rpcUrl: 'http://127.0.0.1:9', contracts: [], pids };
  await using service = await startTestDataService(
    [nowhere],
    { log: createLogger({ level: 'silent' }) },
    async () => {},
  );

  await page.goto(service.url);

  await page.getByText('No block of this chain is available yet.').waitFor();
  await page.getByText('waiting for its first block').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(complaints).toEqual([]);
});
