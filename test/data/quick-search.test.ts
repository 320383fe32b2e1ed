import { type Address, checksumAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { list, record, text } from '../lab/json.ts';
import { type Client, client } from '../support/contract-client.ts';

/** More results than a quick search answers, and more than half of them. */
const TOKENS = 60;
const CONTRACTS = 40;

let chain: TestChain;
let service: TestDataService;
let api: Client;
const tokens: Address[] = [];

beforeAll(async () => {
  chain = await startTestChain();
  for (let place = 0; place < TOKENS; place += 1) {
    const deployed = await chain.deploy('StableToken', [`Shared Coin ${place}`, `COIN${place}`]);
    await chain.send(0, deployed.call('mint', [chain.accounts.signer(1).address, 5n]));
    if (place % 10 === 9) await chain.mine();
    tokens.push(checksumAddress(deployed.address));
  }
  const contracts = tokens
    .slice(0, CONTRACTS)
    .map((address, place) => ({ name: `Shared Vault ${place}`, address, artifactName: 'StableToken' }));
  service = await startTestDataService([servedTestChain(chain.rpcUrl, contracts)]);
  api = client(service.url);
});

afterAll(async () => {
  await service.close();
  await chain.stop();
});

async function quick(q: string): Promise<Record<string, unknown>[]> {
  const { status, body } = await api.get(`/explorer/search/quick?q=${encodeURIComponent(q)}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return list(body).map(record);
}

async function pageOf(q: string): Promise<Record<string, unknown>[]> {
  const { body } = await api.get(`/explorer/search?q=${encodeURIComponent(q)}`);
  return list(record(body).items).map(record);
}

const typesOf = (items: readonly Record<string, unknown>[]) => items.map(({ type }) => type);
const named = (type: string, count: number) => Array.from({ length: count }, () => type);

test('tokens and contracts of one name share the places', async () => {
  const found = await quick('shared');

  expect(typesOf(found)).toEqual([...named('token', 25), ...named('contract', 25)]);
  expect(new Set(found.map(({ type, address_hash: hash }) => `${type} ${hash}`)).size).toBe(50);
});

test('one kind gets the places that the other leaves free', async () => {
  expect(typesOf(await quick('shared c'))).toEqual(named('token', 50));
  expect(typesOf(await quick('shared v'))).toEqual(named('contract', CONTRACTS));
});

test('results that fit on one page equal those of the search', async () => {
  const [token = ''] = tokens;
  const { hash } = record(await chain.rpc.call('eth_getBlockByNumber', '0x2', false));
  for (const q of ['2', text(hash), token, 'shared coin 7', 'COIN59', 'nothing is called this', '', ' ', '%'])
    expect(await quick(q), q).toEqual(await pageOf(q));
  expect((await api.get('/explorer/search/quick')).body).toEqual([]);
});

test('a search of more than 256 characters is refused', async () => {
  expect((await api.get(`/explorer/search/quick?q=${'a'.repeat(257)}`)).status).toBe(400);
});

test('a text missing on the first chain is searched on the next', async () => {
  await using devnet = await startTestDevnet({ chains: 2, blocks: 25 });
  await using both = await startTestDataService(devnet.chains);
  const ask = client(both.url);
  const [, second] = devnet.chains;
  if (second === undefined) throw new Error('no second chain');
  const page = await ask.get(`/explorer/transactions?chain_id=${second.id}`);
  const hash = text(record(list(record(page.body).items)[0]).hash);

  const found = await ask.get(`/explorer/search/quick?q=${hash}`);

  expect(found.headers.get('x-chain-id')).toBe(String(second.id));
  expect(list(found.body)).toMatchObject([{ type: 'transaction', transaction_hash: hash }]);
});
