import { type Address, checksumAddress, type Hash, isHash } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { list, record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';

/** More than two pages of tokens with the same prefix. */
const CROWD = 104;

let chain: TestChain;
let service: TestDataService;
let api: Client;
let crowd: Address[];
const named = new Map<string, Address>();

beforeAll(async () => {
  chain = await startTestChain();
  crowd = [];
  for (let index = 0; index < CROWD; index += 1) crowd.push(await token(`Crowd ${index % 7}`, `CRD${index}`));
  for (const [name, symbol] of [
    ['100% Real', 'PCT'],
    ['100 Percent', 'HUN'],
    ['Snake_Coin', 'SNK'],
    ['SnakeXCoin', 'SNX'],
    ['Éclair', 'ÉCL'],
    ['Ｗｉｄｅ Coin', 'WIDE'],
    ['Twice', 'twice'],
    [`${'Long '.repeat(60)}End`, 'LNG'],
    ["O'Brien; drop table tokens --", 'OBR'],
  ] as const) {
    named.set(name, await token(name, symbol));
  }
  await chain.mine();
  service = await startTestDataService([
    servedTestChain(chain.rpcUrl, [
      { name: 'Crowd Control', address: crowd[0] ?? '0x', artifactName: 'StableToken' },
      { name: 'Crowd of Nobody', address: `0x${'99'.repeat(20)}`, artifactName: 'StableToken' },
    ]),
  ]);
  api = client(service.url);
});

afterAll(async () => {
  await service.close();
  await chain.stop();
});

/** Deploys a token and mints some of it; mines a block now and then. */
async function token(name: string, symbol: string): Promise<Address> {
  const deployed = await chain.deploy('StableToken', [name, symbol]);
  await chain.send(0, deployed.call('mint', [chain.accounts.signer(1).address, 5n]));
  if (crowd.length % 10 === 9) await chain.mine();
  return checksumAddress(deployed.address);
}

async function search(q: string): Promise<Record<string, unknown>[]> {
  const { status, body } = await api.get(`/explorer/search?q=${encodeURIComponent(q)}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return list(record(body).items).map(record);
}

async function redirect(q: string): Promise<unknown> {
  return (await api.get(`/explorer/search/check-redirect?q=${encodeURIComponent(q)}`)).body;
}

const NOWHERE = { redirect: false, type: null, parameter: null };
const addressesOf = (items: readonly Record<string, unknown>[]) => items.map(item => item.address_hash);

async function blockAt(height: number): Promise<{ hash: Hash; transactions: string[] }> {
  const block = record(await chain.rpc.call('eth_getBlockByNumber', `0x${height.toString(16)}`, false));
  const hash = text(block.hash);
  if (!isHash(hash)) throw new Error('no hash');
  return { hash, transactions: list(block.transactions).map(text) };
}

test('a height finds its block and redirects to its hash', async () => {
  const { hash } = await blockAt(2);

  const [found, ...others] = await search('2');

  expect(found).toMatchObject({ type: 'block', block_number: 2, block_hash: hash, url: '/block/2' });
  expect(found).toMatchObject({ block_type: 'block' });
  expect(others).toEqual([]);
  expect(await redirect('2')).toEqual({ redirect: true, type: 'block', parameter: hash });
  expect(await redirect('99999999')).toEqual(NOWHERE);
  expect(await redirect('02')).toEqual(NOWHERE);
});

test('a hash finds its block or transaction in any letter case', async () => {
  const { hash, transactions } = await blockAt(1);
  const [transaction = ''] = transactions;

  expect(await search(hash)).toMatchObject([{ type: 'block', block_hash: hash }]);
  expect(await search(transaction.toUpperCase())).toMatchObject([
    { type: 'transaction', transaction_hash: transaction, url: `/tx/${transaction}` },
  ]);
  expect(await redirect(hash.toUpperCase())).toEqual({ redirect: true, type: 'block', parameter: hash });
  expect(await redirect(transaction)).toEqual({
    redirect: true,
    type: 'transaction',
    parameter: transaction,
  });
  expect(await redirect(`0x${'12'.repeat(32)}`)).toEqual(NOWHERE);
});

test('an address finds itself, and also its token if it is one', async () => {
  const holder = checksumAddress(chain.accounts.signer(0).address);
  const address = named.get('Snake_Coin') ?? '';

  expect(await search(holder.toLowerCase())).toMatchObject([
    { type: 'address', address_hash: holder, url: `/address/${holder}`, ens_info: null },
  ]);
  expect(await search(address)).toMatchObject([
    { type: 'token', address_hash: address, name: 'Snake_Coin', symbol: 'SNK', total_supply: '5' },
    { type: 'contract', address_hash: address },
  ]);
  expect(await redirect(holder.toLowerCase())).toEqual({
    redirect: true,
    type: 'address',
    parameter: holder,
  });
  expect(await search(`0x${'77'.repeat(20)}`)).toEqual([]);
  expect(await redirect(`0x${'77'.repeat(20)}`)).toEqual(NOWHERE);
});

test('a pending transaction is found without a time', async () => {
  const { hash } = await chain.send(2, { to: chain.accounts.signer(3).address, value: 1n });

  expect(await search(hash)).toMatchObject([
    { type: 'transaction', transaction_hash: hash, timestamp: null },
  ]);
  expect(await redirect(hash)).toEqual({ redirect: true, type: 'transaction', parameter: hash });
});

test.each([
  ['snake_', 'Snake_Coin'],
  ['100%', '100% Real'],
  ['éCLA', 'Éclair'],
  ['écl', 'Éclair'],
  ['wide co', 'Ｗｉｄｅ Coin'],
  ['  o’brien'.replace('’', "'"), "O'Brien; drop table tokens --"],
  ['twice', 'Twice'],
  [`${'long '.repeat(40)}`, `${'Long '.repeat(60)}End`],
])('“%s” finds one token in any letter case, and special characters are taken literally', async (q, name) => {
  const found = await search(q);

  expect(addressesOf(found)).toEqual([named.get(name)]);
  expect(found[0]).toMatchObject({ type: 'token', name });
});

test('the middle of a name, a lone special character and an empty text find nothing', async () => {
  for (const q of ['oin', '%', '_', '*', '%%', '\\', '', '   ', '\u0001', '\u200b', '\u{10FFFF}']) {
    expect(await search(q), JSON.stringify(q)).toEqual([]);
    expect(await redirect(q)).toEqual(NOWHERE);
  }
  expect((await api.get('/explorer/search')).body).toEqual({ items: [], next_page_params: null });
});

test('every search has an answer within the contract', async () => {
  const hostile = [
    "' or 1=1 --",
    '%00',
    '0x',
    `0x${'f'.repeat(63)}`,
    '-1',
    '1e3',
    '٣',
    '9'.repeat(18),
    '9'.repeat(256),
    '💥'.repeat(100),
    'ﷺ'.repeat(256),
    '\u0130'.repeat(256),
    '"}],{"',
    '../../etc/passwd',
  ];
  for (const q of hostile) {
    expect(await search(q), q).toEqual([]);
    expect(await redirect(q), q).toEqual(NOWHERE);
  }
  expect((await api.get(`/explorer/search?q=${'a'.repeat(257)}`)).status).toBe(400);
});

test('a contract on the chain is found by the name of its known ABI', async () => {
  expect(await search('crowd c')).toMatchObject([
    { type: 'contract', name: 'Crowd Control', address_hash: crowd[0] },
  ]);
  expect(await search('crowd of')).toEqual([]);
});

type Follow = (page: Record<string, unknown>) => string;

const follow: Readonly<Record<string, Follow>> = {
  'the cursor alone': page => `cursor=${text(page.cursor)}`,
  'the keys of the document': page =>
    ['q', 'item_type', 'name', 'address_hash', 'items_count', 'chain_id']
      .map(name => `${name}=${encodeURIComponent(String(page[name]))}`)
      .join('&'),
};

test.each(Object.entries(follow))('a walk by %s returns each result once', async (_, next) => {
  const seen: string[] = [];
  let query = 'q=CR';
  for (let page = 0; page < 10; page += 1) {
    const body = record((await api.get(`/explorer/search?${query}`)).body);
    const items = list(body.items).map(record);
    seen.push(...items.map(item => `${item.type} ${item.address_hash}`));
    if (body.next_page_params === null) break;
    expect(items).toHaveLength(50);
    query = next(record(body.next_page_params));
  }

  const expected = [...crowd.map(address => `token ${address}`), `contract ${crowd[0]}`];
  expect(seen.toSorted()).toEqual(expected.toSorted());
});

test('a position of another search, or an incomplete one, is refused', async () => {
  const half = await api.get('/explorer/search?q=crowd&item_type=token&name=crowd%201');
  const foreign = await api.get(
    `/explorer/search?q=crowd&item_type=token&name=snake&address_hash=${crowd[0]}`,
  );

  expect(half.status).toBe(400);
  expect(half.body).toEqual({ message: 'address_hash: must be given together with item_type' });
  expect(foreign.status).toBe(400);
});

test('a token removed by a reorganisation is not found any more', async () => {
  const gone = await token('Vanishing', 'GONE');
  await chain.mine();
  expect(
    addressesOf(
      await until(
        () => search('vanish'),
        items => items.length > 0,
      ),
    ),
  ).toEqual([gone]);

  await chain.reorg(1);
  await chain.mine();

  expect(
    await until(
      () => search('vanish'),
      items => items.length === 0,
    ),
  ).toEqual([]);
});

test('a text missing on the first chain is searched on the next', async () => {
  await using devnet = await startTestDevnet({ chains: 2, blocks: 25 });
  await using both = await startTestDataService(devnet.chains);
  const ask = client(both.url);
  const [, second] = devnet.chains;
  if (second === undefined) throw new Error('no second chain');
  const page = await ask.get(`/explorer/transactions?chain_id=${second.id}`);
  const hash = text(record(list(record(page.body).items)[0]).hash);

  const led = await ask.get(`/explorer/search/check-redirect?q=${hash}`);
  const found = await ask.get(`/explorer/search?q=${hash}`);
  const nowhere = await ask.get('/explorer/search/check-redirect?q=nobody');

  expect(led.body).toEqual({ redirect: true, type: 'transaction', parameter: hash });
  expect(led.headers.get('x-chain-id')).toBe(String(second.id));
  expect(found.headers.get('x-chain-id')).toBe(String(second.id));
  expect(list(record(found.body).items)).toHaveLength(1);
  expect(nowhere.body).toEqual(NOWHERE);
});
