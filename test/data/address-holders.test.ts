import { type Address, checksumAddress, formatEther, numberToHex, parseEther } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpRpc, type Rpc } from '../../src/devnet/chain/rpc.ts';
import { servedChain, startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { startTestDevnet, type TestDevnet } from '../lab/devnet.ts';
import { list, record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';
import { type Item, pageOf, walk } from '../support/walk.ts';

/** Accounts with one coin each: several pages of them, with equal balances across a page boundary. */
const CROWD = 110;

let devnet: TestDevnet;
let service: TestDataService;
let api: Client;
let rpc: Rpc;
let accounts: string[];

const crowd = Array.from({ length: CROWD }, (_, index): Address => `0xc0ffee${`${index}`.padStart(34, '0')}`);

beforeAll(async () => {
  devnet = await startTestDevnet();
  rpc = httpRpc(devnet.chains[0]?.rpcUrl ?? '');
  accounts = list(await rpc.call('eth_accounts')).map(text);
  for (const to of crowd) await give(to, parseEther('1'));
  await rpc.call('evm_mine');
  service = await startTestDataService(devnet.chains);
  api = client(service.url);
});

afterAll(async () => {
  await service.close();
  await devnet.stop();
});

function give(to: string, value: bigint, from = accounts[0]): Promise<unknown> {
  return rpc.call('eth_sendTransaction', { from, to, value: numberToHex(value), gas: '0x5208' });
}

async function balance(address: unknown, block = 'latest'): Promise<bigint> {
  return BigInt(text(await rpc.call('eth_getBalance', address, block)));
}

async function nodeBlocks(): Promise<Record<string, unknown>[]> {
  const head = Number(await rpc.call('eth_blockNumber'));
  const numbers = Array.from({ length: head + 1 }, (_, number) => numberToHex(number));
  return Promise.all(
    numbers.map(async number => record(await rpc.call('eth_getBlockByNumber', number, true))),
  );
}

const coins = (item: Item) => BigInt(text(item.coin_balance));
const hashes = (items: readonly Item[]) => items.map(({ hash }) => text(hash));

test('each holder appears once with the node’s balance, the richest first', async () => {
  const { items, pages } = await walk(api, '/explorer/addresses');

  expect(pages.slice(0, 2)).toEqual([50, 50]);
  expect(new Set(hashes(items)).size).toBe(items.length);
  expect(hashes(items)).toEqual(expect.arrayContaining(crowd.map(address => checksumAddress(address))));
  for (const item of items) expect(coins(item), text(item.hash)).toBe(await balance(item.hash));
  const sorted = items.toSorted((a, b) => (coins(a) > coins(b) ? -1 : coins(a) < coins(b) ? 1 : 0));
  expect(items.map(coins)).toEqual(sorted.map(coins));
});

test('the keys from the contract page through the list like the cursor does', async () => {
  const byCursor = await walk(api, '/explorer/addresses');
  const byKeys = await walk(api, '/explorer/addresses', 'keys');

  expect(byKeys.items).toEqual(byCursor.items);
});

test('the supply is the sum of the balances: the genesis allocation minus what was burnt', async () => {
  const { items } = await walk(api, '/explorer/addresses');
  const { body } = await api.get('/explorer/addresses');
  const sum = items.reduce((total, item) => total + coins(item), 0n);
  const known = new Set(hashes(items).map(hash => hash.toLowerCase()));
  let given = 0n;
  let unseen = 0n;
  for (const account of accounts) {
    given += await balance(account, '0x0');
    if (!known.has(account.toLowerCase())) unseen += await balance(account);
  }
  let burnt = 0n;
  for (const block of await nodeBlocks()) {
    burnt += BigInt(text(block.gasUsed)) * BigInt(text(block.baseFeePerGas));
    for (const receipt of list(await rpc.call('eth_getBlockReceipts', block.number)).map(record)) {
      burnt += BigInt(text(receipt.blobGasUsed ?? '0x0')) * BigInt(text(receipt.blobGasPrice ?? '0x0'));
    }
  }

  expect(burnt).toBeGreaterThan(0n);
  expect(record(body).total_supply).toBe(formatEther(sum));
  expect(sum + unseen).toBe(given - burnt);
});

test('transactions are counted once for their sender, receiver and created contract', async () => {
  const counts = new Map<string, number>();
  for (const block of await nodeBlocks()) {
    for (const receipt of list(await rpc.call('eth_getBlockReceipts', block.number)).map(record)) {
      const parties = new Set([receipt.from, receipt.to ?? receipt.contractAddress]);
      for (const party of parties) counts.set(String(party), (counts.get(String(party)) ?? 0) + 1);
    }
  }

  const { items } = await walk(api, '/explorer/addresses');

  for (const { hash, transaction_count: count } of items) {
    expect(count, text(hash)).toBe(String(counts.get(text(hash).toLowerCase()) ?? 0));
  }
  expect(Math.max(...counts.values())).toBeGreaterThan(CROWD);
});

test('a position with a missing key is refused, and the message names the key', async () => {
  const next = pageOf((await api.get('/explorer/addresses')).body).next ?? {};

  for (const lost of ['fetched_coin_balance', 'hash', 'transaction_count']) {
    const rest = Object.entries(next).filter(([key]) => ![lost, 'cursor', 'chain_id'].includes(key));
    const query = new URLSearchParams(Object.fromEntries(rest.map(([key, value]) => [key, String(value)])));
    const { status, body } = await api.get(`/explorer/addresses?${query}`);
    expect(status).toBe(400);
    expect(text(record(body).message)).toContain(lost);
  }
  const foreign = '/explorer/addresses?fetched_coin_balance=null&transaction_count=null';
  expect((await api.get(`${foreign}&hash=${crowd[0]}`)).status).toBe(400);
});

test('while blocks arrive, a walk shows each holder with an unchanged balance exactly once', async () => {
  const before = await walk(api, '/explorer/addresses');
  const seen: Item[] = [];
  let path = '/explorer/addresses';
  for (let turn = 0; turn < 20; turn += 1) {
    const { items, next } = pageOf((await api.get(path)).body);
    seen.push(...items);
    if (next === null) break;
    const head = await blocks();
    await give(`0xfeed${`${turn}`.padStart(36, '0')}`, parseEther('2'), accounts[1]);
    await rpc.call('evm_mine');
    await until(blocks, found => found > head);
    path = `/explorer/addresses?cursor=${text(next.cursor)}`;
  }

  const after = new Map(
    (await walk(api, '/explorer/addresses')).items.map(item => [item.hash, item.coin_balance]),
  );
  const still = before.items.filter(item => after.get(item.hash) === item.coin_balance);
  expect(still.length).toBeGreaterThan(CROWD);
  for (const { hash } of still) expect(hashes(seen).filter(one => one === hash)).toHaveLength(1);
});

async function blocks(): Promise<number> {
  return Number(record((await api.get('/explorer/stats')).body).total_blocks);
}

test('an index that does not start at genesis cannot list the coin’s holders', async () => {
  const [chain] = devnet.chains;
  if (chain === undefined) throw new Error('no chain');
  const served = servedChain(chain, devnet.folder);
  const backends = served.backends.map(backend => ({ ...backend, fromBlock: 20 }));
  await using late = await startTestDataService([], { chains: [{ ...served, backends }] });

  const { status, body } = await client(late.url).get('/explorer/addresses');

  expect(status).toBe(501);
  expect(record(body).message).toContain('the index begins at block 20');
});
