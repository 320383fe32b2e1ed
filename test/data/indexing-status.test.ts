import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexBackend } from '../../src/data/backends/own-index/own-index-backend.ts';
import type { ChainIndex } from '../../src/indexer/index-service.ts';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { clientOf, openTestIndex, startTestChain, type TestChain } from '../indexer/support.ts';
import { PATIENCE_MS } from '../lab/until.ts';

const TRACERS = ['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByNumber'];

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  for (let block = 0; block < 11; block += 1) {
    await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
    await chain.mine();
  }
});

afterAll(() => chain.stop());

const REQUEST = { path: {}, query: {} };

/** Indexing status of an index whose node is this many blocks ahead. */
function answersOf({ index, ahead = 0 }: { index: ChainIndex; ahead?: number }) {
  const status = () => ({ ...index.status(), lag: ahead });
  const { answers } = indexBackend({ name: 'index', chainId: 1, index: { ...index, status } });
  const aside = () => ({ signal: AbortSignal.timeout(PATIENCE_MS) });
  return {
    status: () => answers.getIndexingStatus?.(REQUEST, aside()),
    stats: () => answers.getStats?.(REQUEST, aside()),
    chart: () => answers.getTransactionsChart?.(REQUEST, aside()),
    contracts: () => answers.getSmartContractCounters?.(REQUEST, aside()),
  };
}

async function indexed(options: { fromBlock?: number; rpcUrl?: string } = {}): Promise<ChainIndex> {
  const { rpcUrl = chain.rpcUrl, ...rest } = options;
  const file = join(chain.folder, `status-${Math.random()}.sqlite`);
  const index = await openTestIndex({ file, client: clientOf(rpcUrl), ...rest });
  await index.runOnce();
  return index;
}

/** A status without the ratio of internal transactions. */
const progress = (isFinished: boolean, ratio: string) => ({
  finished_indexing: isFinished,
  finished_indexing_blocks: isFinished,
  indexed_blocks_ratio: ratio,
  indexed_internal_transactions_ratio: null,
});

test('an index behind its node reports its share of blocks, truncated to two decimals', async () => {
  const index = await indexed();

  const behind = await answersOf({ index, ahead: 7 }).status();

  // The index has 12 of 19 blocks.
  expect(behind?.body).toEqual(progress(false, '0.63'));
  expect(behind?.unsettled).toBe(true);
  await index.stop();
});

test('the share counts only blocks from the configured first block on', async () => {
  const index = await indexed({ fromBlock: 8 });

  expect((await answersOf({ index, ahead: 4 }).status())?.body).toMatchObject({
    indexed_blocks_ratio: '0.50',
  });
  expect((await answersOf({ index }).status())?.body).toMatchObject({ indexed_blocks_ratio: '1.00' });
  await index.stop();
});

test('before the first block the share is zero', async () => {
  const file = join(chain.folder, 'status-empty.sqlite');
  const index = await openTestIndex({ file, client: chain.client });

  expect((await answersOf({ index }).status())?.body).toEqual(progress(false, '0.00'));
  await index.stop();
});

test('where the node does not trace, internal transactions do not delay completion', async () => {
  const proxy = await startNodeProxy(chain.rpcUrl, { missing: TRACERS });
  const index = await indexed({ rpcUrl: proxy.rpcUrl });

  expect((await answersOf({ index }).status())?.body).toEqual(progress(true, '1.00'));
  await index.stop();
  await proxy.stop();
});

test('where the node does not trace, contracts are not counted', async () => {
  const proxy = await startNodeProxy(chain.rpcUrl, { missing: TRACERS });
  const index = await indexed({ rpcUrl: proxy.rpcUrl });

  expect((await answersOf({ index }).contracts())?.body).toMatchObject({
    smart_contracts: null,
    new_smart_contracts_24h: null,
  });
  await index.stop();
  await proxy.stop();
});

test('days that began before the first indexed block are not counted', async () => {
  const index = await indexed({ fromBlock: 8 });

  const body = (await answersOf({ index }).chart())?.body;

  expect(body).toHaveProperty('chart_data.length', 31);
  expect(body).toHaveProperty('chart_data.0.transaction_count', null);
  await index.stop();
});

test('a chain of one block has no block time, and a chain without transactions no gas prices', async () => {
  const other = await startTestChain();
  const file = join(other.folder, 'one.sqlite');
  const index = await openTestIndex({ file, client: other.client });
  await index.runOnce();

  expect((await answersOf({ index }).stats())?.body).toMatchObject({
    total_blocks: '1',
    total_transactions: '0',
    average_block_time: 0,
    gas_prices: null,
    network_utilization_percentage: null,
    transactions_today: '0',
  });
  await index.stop();
  await other.stop();
});
