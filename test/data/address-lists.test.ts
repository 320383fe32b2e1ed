import { type Address, numberToHex } from 'viem';
import { expect } from 'vitest';
import type { Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { list, number, record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, itemOf, pageOf, walk } from '../support/walk.ts';

const NOBODY = `0x${'ab'.repeat(20)}`;

const test = testOnOwnDevnet(120);
let chain: EmbeddedChain;
let api: Client;
let rpc: Rpc;
/** Calls inside every transaction as the node traces them, newest first, without the transaction's own call. */
let calls: readonly Item[];

test.beforeAll(async ({ chain: ownChain, api: ownApi, rpc: ownRpc }) => {
  [chain, api, rpc] = [ownChain, ownApi, ownRpc];
  calls = await nodeCalls();
});

/** A sample contract, in lower case as the node writes addresses. */
function contract(artifact: string): string {
  const found = chain.contracts.find(({ artifactName }) => artifactName === artifact);
  if (found === undefined) throw new Error(`no ${artifact}`);
  return found.address.toLowerCase();
}

const lower = (address: unknown) => text(record(address).hash).toLowerCase();

async function nodeCalls(): Promise<Item[]> {
  const head = Number(await rpc.call('eth_blockNumber'));
  const blocks = Array.from({ length: head }, (_, above) => above + 1);
  const traced = await rpc.batch(
    blocks.map(block => ({
      method: 'debug_traceBlockByNumber',
      params: [numberToHex(block), { tracer: 'callTracer' }],
    })),
  );
  const found: Item[] = [];
  for (const [place, block] of blocks.entries()) {
    const traces = list(traced[place]);
    for (const trace of traces.map(record)) {
      let index = 0;
      const visit = (frame: Item) => {
        found.push({ ...frame, transaction: trace.txHash, block, index });
        index += 1;
        for (const inner of list(frame.calls ?? [])) visit(itemOf(inner));
      };
      visit(itemOf(trace.result));
    }
  }
  return found.filter(({ index }) => index !== 0).reverse();
}

const placeOf = (item: Item) => `${text(item.transaction_hash)}/${number(item.index)}`;

test('the logs of a contract match the node’s, newest first, by cursor and by keys', async () => {
  const address = contract('StableToken');
  const filter = { address, fromBlock: '0x0', toBlock: 'latest' };
  const expected = list(await rpc.call('eth_getLogs', filter))
    .map(record)
    .reverse();

  const byCursor = await walk(api, `/explorer/addresses/${address}/logs`);
  const byKeys = await walk(api, `/explorer/addresses/${address}/logs`, 'keys');

  expect(byCursor.pages.length).toBeGreaterThan(2);
  expect(
    byCursor.items.map(({ transaction_hash, index, topics, data, block_number }) => ({
      transaction_hash,
      index,
      topics,
      data,
      block_number,
    })),
  ).toEqual(
    expected.map(log => ({
      transaction_hash: log.transactionHash,
      index: Number(log.logIndex),
      topics: log.topics,
      data: log.data,
      block_number: Number(log.blockNumber),
    })),
  );
  for (const item of byCursor.items) expect(lower(item.address)).toBe(address);
  expect(byKeys.items).toEqual(byCursor.items);
});

test('transactions of an address match the node’s blocks, for each direction and for both', async () => {
  const all = await nodeTransactions();
  const creation = all.find(({ contractAddress }) => contractAddress !== null);
  let longest = 0;
  for (const address of [contract('StableToken'), text(creation?.contractAddress), text(creation?.from)]) {
    const from = all.filter(transaction => transaction.from === address);
    const to = all.filter(({ to: receiver, contractAddress }) =>
      [receiver, contractAddress].includes(address),
    );
    const both = all.filter(one => from.includes(one) || to.includes(one));
    for (const [filter, expected] of [
      ['?filter=from', from],
      ['?filter=to', to],
      ['', both],
    ] as const) {
      const { items: found } = await walk(api, `/explorer/addresses/${address}/transactions${filter}`);
      expect(
        found.map(item => item.hash),
        `${address}${filter}`,
      ).toEqual(expected.map(({ transactionHash }) => transactionHash));
      longest = Math.max(longest, found.length);
    }
  }
  expect(longest).toBeGreaterThan(50);
});

/** Receipts of every transaction in a block, the latest first. */
async function nodeTransactions(): Promise<Item[]> {
  const head = Number(await rpc.call('eth_blockNumber'));
  const blocks = Array.from({ length: head }, (_, below) => head - below);
  const receipts = await rpc.batch(
    blocks.map(block => ({ method: 'eth_getBlockReceipts', params: [numberToHex(block)] })),
  );
  return receipts.flatMap(ofBlock => list(ofBlock).map(itemOf).toReversed());
}

test('internal transactions of an address match the node’s traces, for each direction and for both', async () => {
  const addresses = [contract('PaymentSplitter'), contract('TreasuryProxy'), contract('Factory')];
  let longest = 0;
  for (const address of addresses) {
    const from = calls.filter(call => call.from === address);
    const to = calls.filter(call => call.to === address);
    const both = calls.filter(call => call.from === address || call.to === address);
    for (const [filter, expected] of [
      ['?filter=from', from],
      ['?filter=to', to],
      ['', both],
    ] as const) {
      const { items: found } = await walk(
        api,
        `/explorer/addresses/${address}/internal-transactions${filter}`,
      );
      expect(found.map(placeOf), `${address}${filter}`).toEqual(
        expected.map(call => `${text(call.transaction)}/${number(call.index)}`),
      );
      longest = Math.max(longest, found.length);
    }
  }
  expect(longest).toBeGreaterThan(50);
});

test('the creation of a contract is listed among the internal transactions to it', async () => {
  const creation = calls.find(call => call.type === 'CREATE2' && call.error === undefined);
  const created = text(creation?.to);

  const to = pageOf((await api.get(`/explorer/addresses/${created}/internal-transactions?filter=to`)).body);
  const from = pageOf(
    (await api.get(`/explorer/addresses/${created}/internal-transactions?filter=from`)).body,
  );

  expect(to.items.map(placeOf)).toContain(`${text(creation?.transaction)}/${number(creation?.index)}`);
  expect(from.items).toEqual([]);
});

test('validated blocks are those whose header names the address, and a walk is not disturbed by new ones', async () => {
  const miner = record(await rpc.call('eth_getBlockByNumber', 'latest', false)).miner;
  const head = Number(await rpc.call('eth_blockNumber'));
  const path = `/explorer/addresses/${text(miner)}/blocks-validated`;
  const expected = Array.from({ length: head + 1 }, (_, back) => head - back);

  const first = pageOf((await api.get(path)).body);
  await rpc.call('evm_mine');
  await until(
    async () => pageOf((await api.get(path)).body).items[0]?.height,
    height => height === head + 1,
  );
  const seen = [...first.items];
  let next = first.next;
  while (next !== null && seen.length < 1_000) {
    const page = pageOf((await api.get(`${path}?block_number=${number(next.block_number)}`)).body);
    seen.push(...page.items);
    next = page.next;
  }

  const mined = await Promise.all(
    expected.map(async height => {
      const block = record(await rpc.call('eth_getBlockByNumber', numberToHex(height), false));
      return { height, hash: block.hash, miner: block.miner };
    }),
  );
  expect(seen.map(({ height, hash }) => ({ height, hash }))).toEqual(
    mined.filter(block => block.miner === miner).map(({ height, hash }) => ({ height, hash })),
  );
});

test('while blocks arrive, a walk over logs shows each one exactly once', async () => {
  const address = contract('StableToken');
  const path = `/explorer/addresses/${address}/logs`;
  const { items: before } = await walk(api, path);
  const accounts = list(await rpc.call('eth_accounts')).map(text);
  const approve = `0x095ea7b3${NOBODY.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;

  const seen: Item[] = [];
  let query = '';
  for (let turn = 0; turn < 20; turn += 1) {
    const { items, next } = pageOf((await api.get(`${path}${query}`)).body);
    seen.push(...items);
    if (next === null) break;
    query = `?cursor=${text(next.cursor)}`;
    const newest = await newestLog(path);
    await rpc.call('eth_sendTransaction', { from: accounts[3], to: address, data: approve, gas: '0x30d40' });
    await rpc.call('evm_mine');
    await until(
      () => newestLog(path),
      found => found !== newest,
    );
  }

  expect(seen.map(placeOf)).toEqual(before.map(placeOf));
  expect((await walk(api, path)).items.length).toBeGreaterThan(before.length);
});

async function newestLog(path: string): Promise<string> {
  const [newest] = pageOf((await api.get(path)).body).items;
  return newest === undefined ? '' : placeOf(newest);
}

test('an address unknown to the chain has empty lists', async () => {
  const lists = [
    'transactions',
    'transactions?filter=to',
    'tokens',
    'nft',
    'logs',
    'internal-transactions',
    'internal-transactions?filter=to',
    'withdrawals',
    'blocks-validated',
  ];
  for (const one of lists) {
    const { status, body } = await api.get(`/explorer/addresses/${NOBODY}/${one}`);
    expect(status, one).toBe(200);
    expect(body, one).toEqual({ items: [], next_page_params: null });
  }
});

test('the letter case of an address does not matter', async () => {
  const address: Address = `0x${contract('StableToken').slice(2)}`;
  const upper = `0x${address.slice(2).toUpperCase()}`;

  const [one, other] = await Promise.all(
    [address, upper].map(async spelled => (await api.get(`/explorer/addresses/${spelled}/logs`)).body),
  );

  expect(other).toEqual(one);
});
