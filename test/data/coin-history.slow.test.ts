import { type Address, encodeFunctionData, numberToHex, parseEther } from 'viem';
import { describe, expect } from 'vitest';
import { splitterAbi } from '../../src/devnet/activity/abis.ts';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import type { Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { startNodeProxy, TRACING } from '../indexer/node-proxy.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, pageOf, walk } from '../support/walk.ts';

const NOBODY = `0x${'ab'.repeat(20)}`;
/** An account that was paid only by a contract, twice. */
const PAYEE: Address = `0x${'9a'.repeat(20)}`;
const DAY_MS = 86_400_000;

const test = testOnOwnDevnet(120);
let chain: EmbeddedChain;
let api: Client;
let rpc: Rpc;
let head: number;

test.beforeAll(async ({ chain: ownChain, rpc: ownRpc, api: ownApi }) => {
  [chain, rpc, api] = [ownChain, ownRpc, ownApi];
  for (const value of ['3', '5']) {
    await pay(PAYEE, parseEther(value));
    await rpc.call('anvil_mine', '0x14');
  }
  head = Number(await rpc.call('eth_blockNumber'));
  await until(
    async () => pageOf((await api.get('/explorer/blocks')).body).items[0]?.height,
    height => height === head,
  );
});

/** Sends coins to an account through a contract. */
async function pay(payee: Address, value: bigint): Promise<void> {
  const [, , from] = deriveAccounts().addresses;
  const data = encodeFunctionData({ abi: splitterAbi, functionName: 'split', args: [[payee]] });
  const call = {
    from,
    to: contract('Payment Splitter'),
    data,
    value: numberToHex(value),
    gas: numberToHex(500_000),
  };
  await rpc.call('eth_sendTransaction', call);
  await rpc.call('anvil_mine', '0x1');
}

function contract(name: string): Address {
  const found = chain.contracts.find(one => one.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found.address;
}

const history = (address: string) => `/explorer/addresses/${address}/coin-balance-history`;

async function balances(address: string): Promise<bigint[]> {
  const calls = Array.from({ length: head + 1 }, (_, block) => ({
    method: 'eth_getBalance',
    params: [address, numberToHex(block)],
  }));
  return (await rpc.batch(calls)).map(balance => BigInt(text(balance)));
}

/** Blocks after which the balance differs from the block before, newest first. */
async function changes(address: string): Promise<Pick<Item, 'block_number' | 'value' | 'delta'>[]> {
  const ends = await balances(address);
  return ends
    .map((value, block) => ({ block_number: block, value, delta: value - (ends[block - 1] ?? 0n) }))
    .filter(({ delta }) => delta !== 0n)
    .map(({ block_number, value, delta }) => ({ block_number, value: String(value), delta: String(delta) }))
    .toReversed();
}

const numbersOf = ({ block_number, value, delta }: Item) => ({ block_number, value, delta });

async function everySort(): Promise<string[]> {
  const { miner } = record(await rpc.call('eth_getBlockByNumber', '0x5', false));
  const accounts = deriveAccounts().addresses.slice(0, 4);
  return [...accounts, text(miner), PAYEE, contract('Payment Splitter'), contract('US Dollar Sample')];
}

describe('changes of a coin balance', () => {
  test.each(['cursor', 'keys'] as const)(
    'walked by %s are every block whose balance differs from the one before',
    async by => {
      let found = 0;
      for (const address of await everySort()) {
        const { items, pages } = await walk(api, history(address), by);
        expect(items.map(numbersOf), address).toEqual(await changes(address));
        expect(pages.every(length => length <= 50)).toBe(true);
        found += items.length;
      }
      expect(found).toBeGreaterThan(100);
    },
  );

  test('have the time of their block, and a transaction in it that involves the address', async () => {
    const [, account] = deriveAccounts().addresses;
    const { items } = await walk(api, history(account ?? ''));
    const [payment] = (await walk(api, history(PAYEE))).items;

    for (const item of items.slice(0, 20)) {
      const block = record((await api.get(`/explorer/blocks/${item.block_number}`)).body);
      expect(item.block_timestamp).toBe(block.timestamp);
    }
    const transaction = record((await api.get(`/explorer/transactions/${payment?.transaction_hash}`)).body);
    expect(transaction).toMatchObject({ block_number: payment?.block_number, method: 'split' });
  });

  test('of an address without coins are an empty list', async () => {
    expect((await api.get(history(NOBODY))).body).toEqual({ items: [], next_page_params: null });
  });

  test('are found by binary search where the node does not trace', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, { missing: TRACING });
    try {
      await using service = await startTestDataService([{ ...chain, rpcUrl: proxy.rpcUrl }]);
      const untraced = client(service.url);

      const { items } = await walk(untraced, history(PAYEE));
      const [account = ''] = deriveAccounts().addresses.slice(1);
      const ofAccount = (await walk(untraced, history(account))).items;

      expect(items.map(numbersOf)).toEqual(await changes(PAYEE));
      expect(items.map(({ transaction_hash: hash }) => hash)).toEqual([null, null]);
      expect(ofAccount.map(numbersOf)).toEqual(await changes(account));
    } finally {
      await proxy.stop();
    }
  });

  test('end with a 501 where the node has pruned the state', async () => {
    const [, account = ''] = deriveAccounts().addresses;
    const all = await changes(account);
    const kept = all[10]?.block_number;
    const proxy = await startNodeProxy(chain.rpcUrl, {
      refuses: ({ method, params }) => method === 'eth_getBalance' && Number(params?.[1]) < Number(kept),
    });
    try {
      await using service = await startTestDataService([{ ...chain, rpcUrl: proxy.rpcUrl }]);
      const pruned = client(service.url);

      const first = await pruned.get(history(account));
      const { items, next } = pageOf(first.body);
      const second = await pruned.get(`${history(account)}?cursor=${next?.cursor}`);

      expect([first.status, second.status]).toEqual([200, 501]);
      expect(items.map(numbersOf)).toEqual(all.slice(0, 10));
    } finally {
      await proxy.stop();
    }
  });

  test('need at most a few hundred node requests per page', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, {});
    try {
      await using service = await startTestDataService([{ ...chain, rpcUrl: proxy.rpcUrl }]);
      const [account = ''] = deriveAccounts().addresses;
      const counted = client(service.url);
      const before = proxy.counts.get('eth_getBalance') ?? 0;

      await counted.get(history(account));

      expect((proxy.counts.get('eth_getBalance') ?? 0) - before).toBeLessThanOrEqual(500);
    } finally {
      await proxy.stop();
    }
  });
});

describe('a coin balance day by day', () => {
  test('has the balance at the end of each of the ten days up to the latest block', async () => {
    const blocks = await rpc.batch(
      Array.from({ length: head + 1 }, (_, block) => ({
        method: 'eth_getBlockByNumber',
        params: [numberToHex(block), false],
      })),
    );
    const days = blocks.map(block => Math.floor((Number(record(block).timestamp) * 1000) / DAY_MS));
    const last = days.at(-1) ?? 0;
    for (const address of await everySort()) {
      const ends = await balances(address);
      const expected = Array.from({ length: 10 }, (_, place) => last - 9 + place).flatMap(day => {
        const block = days.findLastIndex(one => one <= day);
        const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
        return block < 0 ? [] : [{ date, value: String(ends[block]) }];
      });

      expect((await api.get(`${history(address)}-by-day`)).body).toEqual({ days: 10, items: expected });
    }
  });

  test('has no days for an unused address, and is a 501 without the state', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, {
      refuses: ({ method, params }) => method === 'eth_getBalance' && Number(params?.[1]) < head,
    });
    try {
      await using service = await startTestDataService([{ ...chain, rpcUrl: proxy.rpcUrl }]);

      const unused = await api.get(`${history(NOBODY)}-by-day`);
      const pruned = await client(service.url).get(`${history(PAYEE)}-by-day`);

      expect(unused.body).toEqual({ days: 10, items: [] });
      expect(pruned.status).toBe(501);
    } finally {
      await proxy.stop();
    }
  });
});
