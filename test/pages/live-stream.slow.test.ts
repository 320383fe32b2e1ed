import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { httpRpc } from '../../src/devnet/chain/rpc.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { CHAIN_ID, servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { freePort } from '../lab/loopback-server.ts';
import { test as base } from './data-page.ts';

const COIN = 10n ** 18n;

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('testChain', async ({}, { onCleanup }): Promise<TestChain> => {
    const chain = await startTestChain();
    onCleanup(chain.stop);
    await chain.mine();
    return chain;
  })
  .extend('streaming', async ({ testChain }, { onCleanup }) => {
    const service = await startTestDataService([servedTestChain(testChain.rpcUrl)]);
    onCleanup(service.close);
    return service;
  })
  .extend('live', async ({ browser, streaming }, { onCleanup }) => {
    const context = await browser.newContext({ baseURL: streaming.url });
    onCleanup(() => context.close());
    return context;
  });

/** Resolves once the page renews by the stream: it no longer asks for the chains. */
async function untilStreamed(page: Page): Promise<void> {
  let last = Date.now();
  page.on('request', request => {
    if (request.url().endsWith('/chains')) last = Date.now();
  });
  await expect.poll(() => Date.now() - last, { timeout: 20_000 }).toBeGreaterThan(3_500);
}

function sendCoin(chain: TestChain) {
  return chain.send(0, { to: chain.accounts.signer(1).address, value: COIN });
}

test('a transaction becomes included and final while its page is open', async ({ live, testChain }) => {
  const { hash } = await sendCoin(testChain);
  const page = await live.newPage();
  await page.goto(`/chain/${CHAIN_ID}/tx/${hash}`);
  await page.getByText('is waiting to be included in a block').waitFor();
  await untilStreamed(page);

  await testChain.mine();
  await page.getByRole('heading', { name: 'Transaction Success' }).waitFor();
  await page.getByText('0 confirmations of 12').waitFor();
  await httpRpc(testChain.rpcUrl).call('anvil_mine', '0x3');
  await page.getByText('3 confirmations of 12').waitFor();
  await httpRpc(testChain.rpcUrl).call('anvil_mine', '0x9');
  await page.getByText('final', { exact: true }).waitFor();
});

test('a reorganisation turns a transaction grey, and every page of the chain names it', async ({
  live,
  testChain,
}) => {
  const { hash } = await sendCoin(testChain);
  await testChain.mine();
  const page = await live.newPage();
  const block = await live.newPage();
  await page.goto(`/chain/${CHAIN_ID}/tx/${hash}`);
  await block.goto(`/chain/${CHAIN_ID}/block/1`);
  await page.getByRole('heading', { name: 'Transaction Success' }).waitFor();
  await untilStreamed(page);

  await testChain.reorg(1);

  await page.getByText('This transaction is no longer on the chain').waitFor();
  await page.getByText('blocks from 2 on were replaced').waitFor();
  await block.getByText('blocks from 2 on were replaced').waitFor();
});

test('an address offers what it receives, and shows the new balance', async ({ live, testChain }) => {
  await sendCoin(testChain);
  await testChain.mine();
  const page = await live.newPage();
  await page.goto(`/chain/${CHAIN_ID}/address/${testChain.accounts.signer(1).address}`);
  const rows = page.getByRole('region', { name: 'Transactions of the address' }).locator('tbody tr');
  await rows.first().waitFor();
  await untilStreamed(page);

  await sendCoin(testChain);
  await sendCoin(testChain);
  await testChain.mine();

  await page.getByText('10,003 ETH').waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByRole('button', { name: '2 new transactions' }).click();
  await expect.poll(() => rows.count()).toBe(3);
});

test('open pages continue when the service has been restarted', async ({ browser, testChain }) => {
  await using stack = new AsyncDisposableStack();
  const port = await freePort();
  const options = { port, log: createLogger({ level: 'silent' }) };
  const first = await startTestDataService([servedTestChain(testChain.rpcUrl)], options);
  const context = await browser.newContext({ baseURL: first.url });
  stack.defer(() => context.close());
  const page = await context.newPage();
  await page.goto(`/chain/${CHAIN_ID}/block/0`);
  await page.getByText('1 confirmation').waitFor();
  await untilStreamed(page);

  await first.close();
  await page.getByText('The server has not answered since').waitFor();
  stack.use(await startTestDataService([servedTestChain(testChain.rpcUrl)], options));

  await page.getByText('The server has not answered since').waitFor({ state: 'detached' });
  await httpRpc(testChain.rpcUrl).call('anvil_mine', '0x4');
  await page.getByText('5 confirmations').waitFor();
});
