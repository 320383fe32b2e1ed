import { formatEther, formatGwei, parseEther } from 'viem';
import { expect } from 'vitest';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';
import { isAnvil } from '../lab/chain-kind.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { list, number, record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';

const DAY_MS = 86_400_000;

const test = testOnOwnDevnet(120);
let api: Client;
let rpc: Rpc;

test.beforeAll(({ api: ownApi, rpc: ownRpc }) => {
  [api, rpc] = [ownApi, ownRpc];
});

interface NodeBlock {
  number: number;
  timestamp: number;
  gasUsed: bigint;
  gasLimit: bigint;
  transactions: unknown[];
}

/** Every block as the node has it. */
async function nodeBlocks(): Promise<NodeBlock[]> {
  const head = Number(await rpc.call('eth_blockNumber'));
  return Promise.all(
    Array.from({ length: head + 1 }, async (_, height) => {
      const block = record(await rpc.call('eth_getBlockByNumber', `0x${height.toString(16)}`, true));
      return {
        number: height,
        timestamp: Number(block.timestamp) * 1000,
        gasUsed: BigInt(text(block.gasUsed)),
        gasLimit: BigInt(text(block.gasLimit)),
        transactions: list(block.transactions),
      };
    }),
  );
}

const dayOf = ({ timestamp }: NodeBlock) => new Date(timestamp).toISOString().slice(0, 10);
const sum = (blocks: readonly NodeBlock[], pick: (block: NodeBlock) => bigint) =>
  blocks.reduce((total, block) => total + pick(block), 0n);
const transactionsIn = (blocks: readonly NodeBlock[]) =>
  blocks.reduce((total, { transactions }) => total + transactions.length, 0);

async function stats() {
  const { body } = await api.get('/explorer/stats');
  return record(body);
}

test('counters are sums over the node’s blocks', async () => {
  const blocks = await nodeBlocks();
  const [head] = blocks.slice(-1);
  if (head === undefined) throw new Error('no blocks');
  const today = blocks.filter(block => dayOf(block) === dayOf(head));

  const answer = await stats();

  expect(answer.total_blocks).toBe(String(blocks.length));
  expect(answer.total_transactions).toBe(String(transactionsIn(blocks)));
  expect(answer.total_gas_used).toBe(String(sum(blocks, block => block.gasUsed)));
  expect(answer.transactions_today).toBe(String(transactionsIn(today)));
  expect(answer.gas_used_today).toBe(String(sum(today, block => block.gasUsed)));
  expect(transactionsIn(today)).toBeGreaterThan(0);
});

test('block time and utilization are those of the last hundred blocks', async () => {
  const blocks = await nodeBlocks();
  const newest = blocks.at(-1);
  const oldest = blocks.at(-101);
  if (newest === undefined || oldest === undefined) throw new Error('too few blocks');
  const recent = blocks.slice(-100);

  const answer = await stats();

  expect(answer.average_block_time).toBe((newest.timestamp - oldest.timestamp) / 100);
  const used = sum(recent, block => block.gasUsed);
  const limit = sum(recent, block => block.gasLimit);
  expect(number(answer.network_utilization_percentage)).toBeCloseTo((Number(used) / Number(limit)) * 100, 3);
});

// The node answers with all receipts of a block, and with traces, only if it is anvil.
test.runIf(isAnvil)('gas prices are percentiles of the prices paid in the last hundred blocks', async () => {
  const blocks = (await nodeBlocks()).slice(-100);
  const receipts = await Promise.all(
    blocks.map(block => rpc.call('eth_getBlockReceipts', `0x${block.number.toString(16)}`)),
  );
  const paid = receipts
    .flatMap(list)
    .map(receipt => BigInt(text(record(receipt).effectiveGasPrice)))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const at = (percent: number) =>
    Number(formatGwei(paid[Math.ceil((percent / 100) * paid.length) - 1] ?? 0n));

  const answer = await stats();

  expect(answer.gas_prices).toEqual({ slow: at(35), average: at(60), fast: at(90) });
  expect(at(35)).toBeGreaterThan(0);
});

test('what an index cannot know is null or absent', async () => {
  const answer = await stats();

  expect(answer).toMatchObject({ static_gas_price: null });
  for (const name of ['tvl', 'coin_image', 'coin_price_change_percentage', 'secondary_coin_price']) {
    expect(answer).not.toHaveProperty(name);
  }
});

test('the chart of transactions has the 31 days up to the head’s, with the node’s counts', async () => {
  const blocks = await nodeBlocks();
  const head = blocks.at(-1);
  if (head === undefined) throw new Error('no blocks');

  const { body } = await api.get('/explorer/stats/charts/transactions');

  const expected = Array.from({ length: 31 }, (_, back) => {
    const date = new Date(head.timestamp - back * DAY_MS).toISOString().slice(0, 10);
    return { date, transaction_count: transactionsIn(blocks.filter(block => dayOf(block) === date)) };
  });
  expect(body).toEqual({ chart_data: expected });
  expect(expected.filter(day => day.transaction_count > 0).length).toBeGreaterThan(1);
});

test.runIf(isAnvil)('the supply is the exact sum of the node’s balances of all known addresses', async () => {
  const known = new Set<string>();
  const note = (value: unknown) => {
    if (typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)) known.add(value.toLowerCase());
  };
  for (const { number: height } of await nodeBlocks()) {
    const tag = `0x${height.toString(16)}`;
    note(record(await rpc.call('eth_getBlockByNumber', tag, false)).miner);
    for (const trace of list(await rpc.call('trace_block', tag))) {
      const { action, result } = record(trace);
      for (const value of Object.values({ ...record(action), ...(result === null ? {} : record(result)) }))
        note(value);
    }
    for (const receipt of list(await rpc.call('eth_getBlockReceipts', tag))) {
      const { from, to, contractAddress, logs } = record(receipt);
      for (const value of [from, to, contractAddress]) note(value);
      for (const log of list(logs).map(record)) {
        note(log.address);
        for (const topic of list(log.topics).map(text)) note(`0x${topic.slice(26)}`);
      }
    }
  }
  const balances = await Promise.all(
    [...known].map(address => rpc.call('eth_getBalance', address, 'latest')),
  );
  const total = balances.reduce((all: bigint, balance) => all + BigInt(text(balance)), 0n);

  const { body } = await api.get('/explorer/stats/charts/market');

  expect(body).toEqual({ available_supply: formatEther(total), chart_data: [] });
});

test('the indexing status of an index at the head is complete', async () => {
  const { body } = await api.get('/explorer/main-page/indexing-status');

  expect(body).toEqual({
    finished_indexing: true,
    finished_indexing_blocks: true,
    indexed_blocks_ratio: '1.00',
    indexed_internal_transactions_ratio: '1.00',
  });
});

test('after a reorganisation the counters are those of the remaining chain', async () => {
  await using own = await startTestDevnet({ blocks: 40, seed: 7 });
  await using ownService = await startTestDataService(own.chains);
  const node = httpRpc(own.chains[0]?.rpcUrl ?? '');
  const ask = client(ownService.url);
  const before = record((await ask.get('/explorer/stats')).body);

  await node.call('anvil_reorg', 10, []);
  await node.call('evm_mine');
  const height = Number(await node.call('eth_blockNumber'));
  const blocks = await Promise.all(
    Array.from({ length: height + 1 }, async (_, index) =>
      record(await node.call('eth_getBlockByNumber', `0x${index.toString(16)}`, false)),
    ),
  );
  const after = await until(
    async () => record((await ask.get('/explorer/stats')).body),
    ({ total_blocks: total }) => total === String(height + 1),
  );

  const transactions = blocks.reduce((total, block) => total + list(block.transactions).length, 0);
  expect(after.total_transactions).toBe(String(transactions));
  expect(Number(before.total_transactions)).toBeGreaterThan(transactions);
  expect(after.total_gas_used).toBe(
    String(blocks.reduce((total, block) => total + BigInt(text(block.gasUsed)), 0n)),
  );
  const chart = record((await ask.get('/explorer/stats/charts/transactions')).body);
  const charted = list(chart.chart_data).map(item => number(record(item).transaction_count));
  expect(charted.reduce((total, count) => total + count, 0)).toBe(transactions);
});

test('a 256-bit balance is added to the supply exactly, and subtracted again', async () => {
  await using own = await startTestDevnet({ blocks: 25, seed: 3 });
  await using ownService = await startTestDataService(own.chains);
  const node = httpRpc(own.chains[0]?.rpcUrl ?? '');
  const ask = client(ownService.url);
  const supply = async () =>
    parseEther(text(record((await ask.get('/explorer/stats/charts/market')).body).available_supply));
  const start = await supply();
  const rich = `0x${'ab'.repeat(20)}`;
  const huge = 2n ** 256n - 1n - 10n ** 40n;

  await node.call('anvil_setCoinbase', rich);
  await node.call('anvil_setBalance', rich, `0x${huge.toString(16)}`);
  await node.call('evm_mine');
  expect(await until(supply, amount => amount !== start)).toBe(start + huge);

  await node.call('anvil_setBalance', rich, '0x0');
  await node.call('evm_mine');
  expect(await until(supply, amount => amount < huge)).toBe(start);
});
