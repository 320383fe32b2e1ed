import { type Address, checksumAddress, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CursorPosition, encodeCursor } from '../../src/data/backends/port/cursor.ts';
import { type NodeProxy, startNodeProxy, withWithdrawals } from '../indexer/node-proxy.ts';
import { CHAIN_ID, servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { number, record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';
import { type Item, pageOf, walk } from '../support/walk.ts';

const BLOCKS = 12;
/** As many as in a main net block, except for one block with more than a page. */
const PER_BLOCK = 16;
const FULL_BLOCK = 5;
const FULL = 60;
/** Index of the last withdrawal before the first block. */
const FIRST_INDEX = 88_000_000;

let chain: TestChain;
let node: NodeProxy;
let service: TestDataService;
let api: Client;

const receivers = ['a1', 'b2', 'c3'].map((byte): Address => checksumAddress(`0x${byte.repeat(20)}`));

beforeAll(async () => {
  chain = await startTestChain();
  for (let block = 0; block < BLOCKS; block += 1) await chain.mine();
  // No local node pays withdrawals, so withdrawals of a real chain are written into its blocks.
  node = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) => {
      if (method !== 'eth_getBlockByNumber' || result === null) return result;
      const block = record(result);
      return withWithdrawals(block, paidIn(Number(block.number)).map(asNode));
    },
  });
  service = await startTestDataService([servedTestChain(node.rpcUrl)]);
  api = client(service.url);
});

afterAll(async () => {
  await service.close();
  await node.stop();
  await chain.stop();
});

interface Paid {
  index: number;
  validatorIndex: number;
  address: Address;
  gwei: bigint;
  block: number;
}

/** Withdrawals of a block: indexes continue from block to block, and the genesis block has none. */
function paidIn(block: number): Paid[] {
  if (block === 0) return [];
  const before = (block - 1) * PER_BLOCK + (block > FULL_BLOCK ? FULL - PER_BLOCK : 0);
  return Array.from({ length: block === FULL_BLOCK ? FULL : PER_BLOCK }, (_, place) => ({
    index: FIRST_INDEX + before + place,
    validatorIndex: 512_000 + ((before + place) % 1_000),
    address: receivers[(before + place) % receivers.length] ?? '0x',
    gwei: 17_000_000n + BigInt(place),
    block,
  }));
}

function asNode({ index, validatorIndex, address, gwei }: Paid) {
  return {
    index: numberToHex(index),
    validatorIndex: numberToHex(validatorIndex),
    address,
    amount: numberToHex(gwei),
  };
}

function newestFirst(head: number): Paid[] {
  return Array.from({ length: head }, (_, above) => paidIn(above + 1))
    .flat()
    .reverse();
}

const wei = ({ gwei }: Paid) => String(gwei * 10n ** 9n);

async function timeOf(block: number): Promise<string> {
  const { timestamp } = record(await chain.rpc.call('eth_getBlockByNumber', numberToHex(block), false));
  return `${new Date(Number(timestamp) * 1000).toISOString().slice(0, -1)}000Z`;
}

test('all withdrawals are listed once, newest first, by cursor and by keys', async () => {
  const expected = newestFirst(BLOCKS);
  const byCursor = await walk(api, '/explorer/withdrawals');
  const byKeys = await walk(api, '/explorer/withdrawals', 'keys');

  expect(byCursor.pages.slice(0, 2)).toEqual([50, 50]);
  expect(byKeys.items).toEqual(byCursor.items);
  expect(byCursor.items.map(shown)).toEqual(
    expected.map(paid => ({
      index: paid.index,
      validator: paid.validatorIndex,
      amount: wei(paid),
      receiver: paid.address,
      block: paid.block,
    })),
  );
  for (const { block_number: block, timestamp } of byCursor.items) {
    expect(timestamp).toBe(await timeOf(number(block)));
  }
});

function shown(item: Item) {
  const { index, validator_index: validator, amount, receiver, block_number: block } = item;
  return { index, validator, amount, receiver: record(receiver).hash, block };
}

test('the withdrawals of a block omit the block, by number and by hash', async () => {
  const { hash } = record(await chain.rpc.call('eth_getBlockByNumber', numberToHex(FULL_BLOCK), false));
  const byNumber = await walk(api, `/explorer/blocks/${FULL_BLOCK}/withdrawals`);
  const byHash = await walk(api, `/explorer/blocks/${text(hash)}/withdrawals`, 'keys');

  expect(byNumber.pages).toEqual([50, FULL - 50]);
  expect(byNumber.items.map(({ index }) => index)).toEqual(
    paidIn(FULL_BLOCK)
      .map(({ index }) => index)
      .reverse(),
  );
  expect(byHash.items).toEqual(byNumber.items);
  for (const item of byNumber.items) {
    expect(item).not.toHaveProperty('block_number');
    expect(item).not.toHaveProperty('timestamp');
    expect(receivers).toContain(record(item.receiver).hash);
  }
  expect((await api.get('/explorer/blocks/0/withdrawals')).body).toEqual({
    items: [],
    next_page_params: null,
  });
  expect((await api.get('/explorer/blocks/999999/withdrawals')).status).toBe(404);
  const block = record((await api.get(`/explorer/blocks/${FULL_BLOCK}`)).body);
  expect(block.withdrawals_count).toBe(FULL);
});

test('the withdrawals of an address omit the receiver and add up to its payments', async () => {
  for (const receiver of receivers) {
    const expected = newestFirst(BLOCKS).filter(({ address }) => address === receiver);
    const { items, pages } = await walk(api, `/explorer/addresses/${receiver}/withdrawals`);

    expect(pages.length).toBeGreaterThan(1);
    expect(items.map(({ index, amount }) => ({ index, amount }))).toEqual(
      expected.map(paid => ({ index: paid.index, amount: wei(paid) })),
    );
    for (const item of items) expect(item).not.toHaveProperty('receiver');
  }
});

test('a walk is not disturbed by new withdrawals, and a reorganisation repeats none', async () => {
  const head = Number(await chain.rpc.call('eth_blockNumber'));
  const first = pageOf((await api.get('/explorer/withdrawals')).body);
  await chain.mine();
  await untilNewest(paidIn(head + 1).at(-1)?.index);
  const seen = [...first.items];
  let next = first.next;
  for (let turn = 0; turn < 20 && next !== null; turn += 1) {
    const page = pageOf((await api.get(`/explorer/withdrawals?index=${number(next.index)}`)).body);
    seen.push(...page.items);
    next = page.next;
  }
  expect(seen.map(({ index }) => index)).toEqual(newestFirst(head).map(({ index }) => index));

  await chain.reorg(3);
  await chain.mine();
  await untilNewest(paidIn(head + 2).at(-1)?.index);
  const after = await walk(api, '/explorer/withdrawals');
  expect(after.items.map(({ index }) => index)).toEqual(newestFirst(head + 2).map(({ index }) => index));
});

async function untilNewest(index: number | undefined): Promise<void> {
  const newest = await until(
    async () => pageOf((await api.get('/explorer/withdrawals')).body).items[0]?.index,
    found => found === index,
  );
  expect(newest).toBe(index);
}

test('a cursor of another list is refused', async () => {
  const { headers } = await api.get('/explorer/withdrawals');
  const cursorAt = (position: CursorPosition) =>
    encodeCursor({ backend: headers.get('x-backend') ?? '', chainId: CHAIN_ID, position });

  const own = await api.get(`/explorer/withdrawals?cursor=${cursorAt({ index: FIRST_INDEX + 1 })}`);
  expect(pageOf(own.body).items.map(({ index }) => index)).toEqual([FIRST_INDEX]);
  for (const foreign of [{ block_number: 3 }, { index: '3' }, { index: -1 }, {}]) {
    expect((await api.get(`/explorer/withdrawals?cursor=${cursorAt(foreign)}`)).status).toBe(400);
  }
});
