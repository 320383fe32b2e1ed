import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { CHAIN_ID, servedTestChain, startTestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { test as base } from './data-page.ts';
import { startLiveFront } from './live-front.ts';

const HASH = `0x${'a'.repeat(64)}`;
const COIN = 10n ** 18n;

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('testChain', { scope: 'file' }, async ({}, { onCleanup }) => {
    const chain = await startTestChain();
    onCleanup(chain.stop);
    await chain.mine();
    return chain;
  })
  .extend('data', { scope: 'file' }, async ({ testChain }, { onCleanup }) => {
    const service = await startTestDataService([servedTestChain(testChain.rpcUrl)], {
      rateLimitPerMinute: 1e9,
    });
    onCleanup(service.close);
    return service;
  })
  .extend('front', async ({ data }, { onCleanup }) => {
    const front = await startLiveFront(data.url);
    onCleanup(() => front[Symbol.asyncDispose]());
    return front;
  })
  .extend('context', async ({ browser, front }, { onCleanup }): Promise<BrowserContext> => {
    const context = await browser.newContext({ baseURL: front.url });
    onCleanup(() => context.close());
    return context;
  })
  .extend('reader', ({ context }): Promise<Page> => context.newPage());

/** Counts the requests of a page for data. */
function dataRequestsOf(page: Page): () => number {
  let count = 0;
  page.on('request', request => {
    if (/\/(chains|explorer\/.*|insights\/.*)$/.test(new URL(request.url()).pathname)) count += 1;
  });
  return () => count;
}

/** The count once it stays for a second. */
async function settled(count: () => number): Promise<number> {
  let before = -1;
  await expect
    .poll(
      () => {
        const last = before;
        before = count();
        return before - last;
      },
      { interval: 1_000 },
    )
    .toBe(0);
  return count();
}

/** Mines a block, and reports it when the index has it. */
async function mined(chain: Awaited<ReturnType<typeof startTestChain>>, data: { url: string }) {
  await chain.mine();
  const number = Number(await chain.rpc.call('eth_blockNumber'));
  await expect
    .poll(async () => {
      const { chains } = await (await fetch(`${data.url}/chains`)).json();
      return chains[0].backends[0].head;
    })
    .toBe(number);
  return number;
}

function headAt(block: number) {
  return {
    event: 'head' as const,
    chain_id: CHAIN_ID,
    backend: `index-${CHAIN_ID}`,
    block_number: block,
    block_hash: HASH,
    timestamp: '2026-01-01T00:00:00.000000Z',
    final_block_number: null,
  };
}

test('eight tabs share one stream over HTTP/1.1, and all of them are usable', async ({ context, front }) => {
  const address = `0x${'1'.repeat(40)}`;
  const paths = [
    '/',
    `/chain/${CHAIN_ID}`,
    `/chain/${CHAIN_ID}/block/0`,
    `/chain/${CHAIN_ID}/address/${address}`,
  ];
  const pages: Page[] = [];
  for (const path of [...paths, ...paths]) {
    const page = await context.newPage();
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    pages.push(page);
  }

  await expect.poll(() => front.streams.length).toBe(1);
  await expect
    .poll(() => front.streams[0]?.query.getAll('watch'))
    .toEqual([`${CHAIN_ID}:address:${address}`]);
  for (const page of pages) {
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  expect(front.streams.length).toBe(1);
});

test('the home page follows the stream, and asks only when there is a new block', async ({
  reader,
  front,
  testChain,
  data,
}) => {
  const asked = dataRequestsOf(reader);
  await reader.goto('/');
  const blocks = reader.getByRole('region', { name: 'Latest blocks' });
  await blocks.getByRole('row').nth(1).waitFor();
  await expect.poll(() => front.streams.length).toBe(1);
  const before = await settled(asked);

  // Twice the pause of a page that polls.
  await new Promise(resolve => setTimeout(resolve, 6_000));
  expect(asked()).toBe(before);
  const number = await mined(testChain, data);
  front.send(headAt(number));

  await blocks.getByRole('link', { name: String(number), exact: true }).waitFor();
  expect(asked() - before).toBeLessThanOrEqual(5);
});

test('a hidden page asks for nothing, and renews when it is seen again', async ({
  reader,
  front,
  testChain,
  data,
}) => {
  const asked = dataRequestsOf(reader);
  await reader.goto('/');
  const blocks = reader.getByRole('region', { name: 'Latest blocks' });
  await blocks.getByRole('row').nth(1).waitFor();
  await expect.poll(() => front.streams.length).toBe(1);
  const before = await settled(asked);
  const hide = (isHidden: boolean) =>
    reader.evaluate(value => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);

  await hide(true);
  const number = await mined(testChain, data);
  front.send(headAt(number));
  await reader.locator('.figure', { hasText: String(number) }).waitFor();
  expect(await settled(asked)).toBe(before);
  await hide(false);

  await blocks.getByRole('link', { name: String(number), exact: true }).waitFor();
});

test('confirmations rise with each head of the stream, without a request', async ({
  reader,
  front,
  testChain,
  data,
}) => {
  const { hash } = await testChain.send(0, { to: testChain.accounts.signer(1).address, value: COIN });
  const number = await mined(testChain, data);
  const asked = dataRequestsOf(reader);
  await reader.goto(`/chain/${CHAIN_ID}/tx/${hash}`);
  await reader.getByText('0 confirmations of 12').waitFor();
  await expect
    .poll(() => front.streams[0]?.query.getAll('watch'))
    .toEqual([`${CHAIN_ID}:transaction:${hash}`]);
  const before = await settled(asked);

  front.send(headAt(number + 5));
  await reader.getByText('5 confirmations of 12').waitFor();
  front.send(headAt(number + 12));
  await reader.getByText('12 confirmations').waitFor();
  await reader.getByText('final', { exact: true }).waitFor();

  expect(asked()).toBe(before);
});

test('new transactions of an address are offered, and its balance follows', async ({
  reader,
  front,
  testChain,
  data,
}) => {
  const to = testChain.accounts.signer(2).address;
  await testChain.send(0, { to, value: COIN });
  await mined(testChain, data);
  await reader.goto(`/chain/${CHAIN_ID}/address/${to}`);
  const rows = reader.getByRole('region', { name: 'Transactions of the address' }).locator('tbody tr');
  await rows.first().waitFor();
  const shown = await rows.count();
  const watch = `${CHAIN_ID}:address:${to.toLowerCase()}`;
  await expect.poll(() => front.streams[0]?.query.getAll('watch')).toEqual([watch]);
  const top = await rows.first().boundingBox();

  const sent = [await testChain.send(0, { to, value: COIN }), await testChain.send(0, { to, value: COIN })];
  const number = await mined(testChain, data);
  for (const { hash } of sent) {
    front.send({
      event: 'activity',
      chain_id: CHAIN_ID,
      watch,
      state: 'included',
      transaction_hash: hash,
      block_number: number,
      block_hash: HASH,
      timestamp: '2026-01-01T00:00:00.000000Z',
    });
  }

  const offer = reader.getByRole('button', { name: '2 new transactions' });
  await offer.waitFor();
  expect([await rows.count(), await rows.first().boundingBox()]).toEqual([shown, top]);
  await offer.click();
  await expect.poll(() => rows.count()).toBe(shown + 2);
  await offer.waitFor({ state: 'detached' });
});

test('a transaction that the stream calls removed turns grey, and the reorganisation is named', async ({
  reader,
  front,
  testChain,
  data,
}) => {
  const { hash } = await testChain.send(0, { to: testChain.accounts.signer(1).address, value: COIN });
  const number = await mined(testChain, data);
  await reader.goto(`/chain/${CHAIN_ID}/tx/${hash}`);
  await reader.getByRole('heading', { name: 'Transaction Success' }).waitFor();
  await expect.poll(() => front.streams.length).toBe(1);

  await testChain.reorg(1);
  await mined(testChain, data);
  const [first_block_number, chain_id] = [number, CHAIN_ID];
  front.send({
    event: 'reorganisation',
    chain_id,
    first_block_number,
    removed_block_hashes: [HASH],
    block_number: number + 1,
    block_hash: HASH,
  });

  await reader.getByText(`blocks from ${number} on were replaced`).waitFor();
  await reader.getByText('This transaction is no longer on the chain').waitFor();
});

test('a refused stream leaves the pages polling, and an open one ends that', async ({ reader, front }) => {
  front.answerWith(429);
  let chains = 0;
  reader.on('request', request => {
    if (request.url().endsWith('/chains')) chains += 1;
  });
  await reader.goto('/');
  await expect.poll(() => chains, { timeout: 20_000 }).toBeGreaterThan(2);
  const tries = front.opened();
  expect(tries).toBeLessThan(8);

  front.answerWith(200);

  await expect.poll(() => front.streams.length, { timeout: 30_000 }).toBe(1);
  const before = chains;
  await new Promise(resolve => setTimeout(resolve, 7_000));
  expect(chains - before).toBeLessThan(2);
});

test('a stream that the server ends continues at its cursor', async ({ reader, front }) => {
  await reader.goto(`/chain/${CHAIN_ID}/block/0`);
  await expect.poll(() => front.streams.length).toBe(1);
  front.send(headAt(50));
  await reader.getByText('50 confirmations').waitFor();

  front.answerWith(200);

  await expect.poll(() => front.streams[0]?.query.get('cursor')).toMatch(/^c\d+$/);
  front.send(headAt(51));
  await reader.getByText('51 confirmations').waitFor();
});

test('a browser without shared workers polls', async ({ reader, front, testChain, data }) => {
  await reader.addInitScript('delete window.SharedWorker');
  await reader.goto('/');
  const blocks = reader.getByRole('region', { name: 'Latest blocks' });
  await blocks.getByRole('row').nth(1).waitFor();

  const number = await mined(testChain, data);

  await blocks.getByRole('link', { name: String(number), exact: true }).waitFor();
  expect(front.opened()).toBe(0);
});
