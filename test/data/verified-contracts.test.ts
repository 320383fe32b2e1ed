import { expect } from 'vitest';
import type { Rpc } from '../../src/devnet/chain/rpc.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { record, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, walk } from '../support/walk.ts';

const DAY_SECONDS = 86_400;
const PATH = '/explorer/smart-contracts';

const test = testOnOwnDevnet(120);
let chain: EmbeddedChain;
let api: Client;
let rpc: Rpc;

test.beforeAll(({ chain: ownChain, api: ownApi, rpc: ownRpc }) => {
  [chain, api, rpc] = [ownChain, ownApi, ownRpc];
});

const addressOf = (item: Item) => text(record(item.address).hash);
const addressesAt = async (query: string) => (await walk(api, `${PATH}${query}`)).items.map(addressOf);

test('the list has every contract with sources, newest first, with its balance and compiler', async () => {
  const { items } = await walk(api, PATH);
  const known = chain.contracts.filter(({ artifactName }) => artifactName !== null);
  const created = await Promise.all(
    items.map(async item => {
      const { body } = await api.get(`/explorer/addresses/${addressOf(item)}`);
      const hash = text(record(body).creation_transaction_hash);
      return Number(record(await rpc.call('eth_getTransactionReceipt', hash)).blockNumber);
    }),
  );

  expect(items.map(addressOf).toSorted()).toEqual(known.map(({ address }) => address).toSorted());
  expect(created).toEqual(created.toSorted((a, b) => b - a));
  for (const item of items) {
    const address = addressOf(item);
    const detail = record((await api.get(`${PATH}/${address}`)).body);
    const counters = record((await api.get(`/explorer/addresses/${address}/counters`)).body);
    const balance = text(await rpc.call('eth_getBalance', address, 'latest'));
    expect(item).toEqual({
      address:
        record((await api.get(`/explorer/addresses/${address}`)).body).hash === address && item.address,
      coin_balance: String(BigInt(balance)),
      compiler_version: detail.compiler_version,
      has_constructor_args: (detail.constructor_args ?? null) !== null,
      language: detail.language,
      license_type: null,
      market_cap: null,
      optimization_enabled: detail.optimization_enabled,
      transactions_count: Number(counters.transactions_count),
      verified_at: null,
    });
    expect(detail.is_verified).toBe(true);
  }
});

test('the list can be narrowed by part of the name or address, and by language', async () => {
  const all = await addressesAt('');
  const named = chain.contracts.find(({ name }) => name === 'Game Items');
  const address = named?.address ?? '';

  expect(await addressesAt('?q=%20aME%20%20item')).toEqual([address]);
  expect(await addressesAt(`?q=${address.slice(0, 12).toUpperCase().replace('0X', '0x')}`)).toEqual([
    address,
  ]);
  expect(await addressesAt('?q=')).toEqual(all);
  expect(await addressesAt('?filter=solidity')).toEqual(all);
  expect(await addressesAt('?filter=vyper')).toEqual([]);
  expect(await addressesAt('?q=nothing%20is%20called%20this')).toEqual([]);
  expect((await api.get(`${PATH}?filter=rust`)).status).toBe(400);
});

test('keys of another back end’s position are refused', async () => {
  const foreign = await api.get(`${PATH}?smart_contract_id=7`);

  expect([foreign.status, foreign.body]).toEqual([
    400,
    { message: 'block_number: must be given together with smart_contract_id' },
  ]);
});

test('counters have the number of contracts, in total and of the last 24 hours', async () => {
  const { items } = await walk(api, '/explorer/internal-transactions');
  const { items: transactions } = await walk(api, '/explorer/transactions');
  const created = [
    ...transactions.filter(({ status }) => status === 'ok'),
    ...items.filter(({ success }) => success === true),
  ].filter(({ created_contract: contract }) => contract !== null);
  const codes = await rpc.batch(
    created.map(({ created_contract: contract }) => ({
      method: 'eth_getCode',
      params: [text(record(contract).hash), 'latest'],
    })),
  );
  const head = record(await rpc.call('eth_getBlockByNumber', 'latest', false));
  const since = (Number(head.timestamp) - DAY_SECONDS) * 1000;
  const recent = created.filter(({ timestamp }) => Date.parse(text(timestamp)) > since);

  const { body } = await api.get(`${PATH}/counters`);

  expect(recent.length).toBeGreaterThan(0);
  expect(recent.length).toBeLessThan(created.length);
  expect(body).toEqual({
    smart_contracts: String(codes.filter(code => code !== '0x').length),
    new_smart_contracts_24h: String(recent.length),
    verified_smart_contracts: String((await addressesAt('')).length),
    new_verified_smart_contracts_24h: null,
  });
});
