import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { list, record, text } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { client } from '../support/contract-client.ts';
import { type Item, pageOf, walk } from '../support/walk.ts';
import { serveTokenChain, startTokenChain } from './token-chain.ts';

/** Number of NFTs of each standard: more than a page. */
const MANY = 60;

const { chain, alice, bob, dollar, postcards, items } = await startTokenChain();
await chain.send(0, dollar.call('mint', [alice, 7n]));
await chain.send(0, dollar.call('mint', [bob, 8n]));
for (let card = 0; card < MANY; card += 1) {
  await chain.send(0, postcards.call('mint', [alice]));
  if (card % 15 === 0) await chain.mine();
}
const ids = Array.from({ length: MANY }, (_, place) => BigInt(place + 1) * 10n ** BigInt(place));
await chain.send(0, items.call('mintBatch', [alice, ids, ids.map((_, place) => BigInt(place + 1))]));
await chain.send(0, items.call('mint', [bob, ids[0] ?? 0n, 1n]));
await chain.mine();
const service = await serveTokenChain(chain);
const api = client(service.url);

async function asked(call: { to: Address; data: string }): Promise<bigint> {
  return BigInt(text(await chain.rpc.call('eth_call', call, 'latest')));
}

const tokenOf = (item: Item) => text(record(item.token).address);
const nftOf = (item: Item) => `${tokenOf(item)}/${text(item.id)}`;

test('each balance is the one that the token’s contract reports to the node', async () => {
  const { items: found, pages } = await walk(api, `/explorer/addresses/${alice}/tokens`);

  expect(pages).toEqual([50, MANY + 2 - 50]);
  for (const item of found) {
    const id = item.token_id;
    const call =
      id === null
        ? (tokenOf(item) === dollar.address ? dollar : postcards).call('balanceOf', [alice])
        : items.call('balanceOf', [alice, BigInt(text(id))]);
    expect(item.value).toBe(String(await asked(call)));
  }
  expect(new Set(found.map(item => `${tokenOf(item)}/${String(item.token_id)}`)).size).toBe(MANY + 2);
});

test('`holders` is a number in this list, and only a balance of one id has an instance', async () => {
  const { items: found } = await walk(api, `/explorer/addresses/${alice}/tokens`);

  const of = (address: Address) => found.filter(item => tokenOf(item) === address);
  expect(of(dollar.address)).toMatchObject([
    {
      value: '7',
      token_id: null,
      token: { name: 'Dollar', symbol: 'USD', type: 'ERC-20', decimals: '6', holders: 2, total_supply: '15' },
    },
  ]);
  expect(of(postcards.address)).toMatchObject([
    { value: `${MANY}`, token_id: null, token: { type: 'ERC-721', holders: 1, decimals: null } },
  ]);
  for (const item of [...of(dollar.address), ...of(postcards.address)]) {
    expect(item).not.toHaveProperty('token_instance');
  }
  for (const item of of(items.address)) {
    expect(item.token_instance).toMatchObject({
      id: item.token_id,
      metadata: { description: expect.any(String) },
    });
  }
});

test('the list can be limited to one standard or to several', async () => {
  const counts = { 'ERC-20': 1, 'ERC-721': 1, 'ERC-1155': MANY };
  for (const types of [['ERC-20'], ['ERC-721'], ['ERC-1155'], ['ERC-20', 'ERC-721']] as const) {
    const { items: found, next } = pageOf(
      (await api.get(`/explorer/addresses/${alice}/tokens?type=${types.join()}`)).body,
    );
    const expected = types.reduce((sum, type) => sum + counts[type], 0);
    expect(found).toHaveLength(Math.min(50, expected));
    expect(next === null).toBe(expected <= 50);
    for (const item of found) expect(types).toContain(record(item.token).type);
  }
});

test('NFTs are all that the address owns, with the same instance as the single record', async () => {
  const path = `/explorer/addresses/${alice}/nft`;
  const byCursor = await walk(api, path);
  const byKeys = await walk(api, path, 'keys');

  expect(byCursor.pages).toEqual([50, 50, 2 * MANY - 100]);
  expect(byKeys.items).toEqual(byCursor.items);
  const cards = byCursor.items.filter(({ token_type: type }) => type === 'ERC-721');
  expect(cards.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: MANY }, (_, place) => place + 1),
  );
  for (const card of cards) {
    const owner = await asked(postcards.call('ownerOf', [BigInt(text(card.id))]));
    expect(owner).toBe(BigInt(alice));
    expect(card).toMatchObject({ value: '1', is_unique: true, owner: { hash: alice } });
  }
  for (const item of byCursor.items.filter(({ token_type: type }) => type === 'ERC-1155')) {
    expect(item.value).toBe(String(await asked(items.call('balanceOf', [alice, BigInt(text(item.id))]))));
  }
  for (const item of [byCursor.items[0], byCursor.items.at(-1)]) {
    const { value, token_type: type, ...instance } = item ?? {};
    const alone = await api.get(
      `/explorer/tokens/${text(record(instance.token).address)}/instances/${text(instance.id)}`,
    );
    expect(alone.body, String(type)).toEqual(instance);
  }
});

test('NFTs can be limited to one standard; a standard without tokens yields an empty list', async () => {
  for (const type of ['ERC-721', 'ERC-1155'] as const) {
    const { items: found } = pageOf((await api.get(`/explorer/addresses/${alice}/nft?type=${type}`)).body);
    expect(found).toHaveLength(50);
    for (const item of found) expect(item.token_type).toBe(type);
  }
  const none = await api.get(`/explorer/addresses/${alice}/nft?type=ERC-404`);
  expect(none.body).toEqual({ items: [], next_page_params: null });
});

test('a position with a missing key is refused, and the message names the key', async () => {
  const position = { token_contract_address_hash: items.address, token_id: '7', token_type: 'ERC-1155' };
  for (const lost of Object.keys(position)) {
    const query = new URLSearchParams(
      Object.fromEntries(Object.entries(position).filter(([key]) => key !== lost)),
    );
    const { status, body } = await api.get(`/explorer/addresses/${alice}/nft?${query}`);
    expect(status).toBe(400);
    expect(text(record(body).message)).toContain(lost);
  }
  const tokens = await api.get(`/explorer/addresses/${alice}/tokens?fiat_value=null&value=7`);
  expect(tokens.status).toBe(400);
  expect(text(record(tokens.body).message)).toContain('id: must be given together with fiat_value');
});

test('walks show unchanged holdings exactly once while others come and go', async () => {
  const kept = { nft: new Set<string>(), tokens: new Set<string>() };
  const keyOf = { nft: nftOf, tokens: (item: Item) => `${tokenOf(item)}/${String(item.token_id)}` };
  for (const which of ['nft', 'tokens'] as const) {
    const path = `/explorer/addresses/${alice}/${which}`;
    const before = await walk(api, path);
    const seen: Item[] = [];
    let query = '';
    for (let turn = 0; turn < 10; turn += 1) {
      const { items: found, next } = pageOf((await api.get(`${path}${query}`)).body);
      seen.push(...found);
      if (next === null) break;
      query = `?cursor=${text(next.cursor)}`;
      await giveAway();
    }
    const after = new Set((await walk(api, path)).items.map(keyOf[which]));
    for (const key of before.items.map(keyOf[which])) if (after.has(key)) kept[which].add(key);
    const keys = seen.map(keyOf[which]);
    for (const key of kept[which])
      expect(
        keys.filter(one => one === key),
        key,
      ).toHaveLength(1);
  }
  expect(kept.nft.size).toBeGreaterThan(MANY);
  expect(kept.tokens.size).toBeGreaterThan(50);
});

/** Takes alice's first item and first card away, gives alice a card, and waits until this is indexed. */
async function giveAway(): Promise<void> {
  const { items: first } = pageOf((await api.get(`/explorer/addresses/${alice}/nft`)).body);
  const all = (await walk(api, `/explorer/addresses/${alice}/nft`)).items;
  const card = all.find(({ token_type: type }) => type === 'ERC-721');
  const item = all.find(({ token_type: type }) => type === 'ERC-1155');
  await chain.send(1, postcards.call('transferFrom', [alice, bob, BigInt(text(card?.id))]));
  await chain.send(
    1,
    items.call('safeTransferFrom', [alice, bob, BigInt(text(item?.id)), BigInt(text(item?.value)), '0x']),
  );
  await chain.send(0, postcards.call('mint', [alice]));
  await chain.mine();
  await until(
    async () => list(record((await api.get(`/explorer/addresses/${alice}/nft`)).body).items),
    found => JSON.stringify(found) !== JSON.stringify(first),
  );
}
