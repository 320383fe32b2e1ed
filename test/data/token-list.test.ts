import { expect } from 'vitest';
import { text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, walk } from '../support/walk.ts';

const test = testOnOwnDevnet(120);
let api: Client;

test.beforeAll(({ api: ownApi }) => {
  api = ownApi;
});

const listed = async (query = '') => (await walk(api, `/explorer/tokens${query}`)).items;
const addresses = (items: readonly Item[]) => items.map(item => text(item.address));

test('tokens are sorted by number of holders, and each equals its record', async () => {
  const items = await listed();

  const holders = items.map(item => Number(item.holders));
  expect(holders).toEqual(holders.toSorted((a, b) => b - a));
  expect(new Set(addresses(items)).size).toBe(items.length);
  for (const item of items)
    expect((await api.get(`/explorer/tokens/${text(item.address)}`)).body).toEqual(item);
  expect(items.length).toBeGreaterThan(3);
});

test('ascending order is the exact reverse, and sorting by an unknown value is the default order', async () => {
  const items = await listed();

  expect(await listed('?sort=holders_count&order=asc')).toEqual(items.toReversed());
  for (const query of ['?sort=holders_count', '?sort=fiat_value&order=asc', '?order=asc'])
    expect(await listed(query), query).toEqual(items);
});

test('each type of token is a part of the list in the same order', async () => {
  const items = await listed();

  for (const type of ['ERC-20', 'ERC-721', 'ERC-1155']) {
    const wanted = items.filter(item => item.type === type);
    expect(await listed(`?type=${type}`), type).toEqual(wanted);
    expect(wanted.length, type).toBeGreaterThan(0);
  }
  expect(await listed('?type=ERC-404')).toEqual([]);
  expect(await listed('?type=ERC-20,ERC-721,ERC-1155')).toEqual(items);
});

test('tokens are found by name and by symbol, in any letter case', async () => {
  const [first] = await listed('?type=ERC-721');
  const { name, symbol } = first ?? {};

  for (const word of [text(name).toUpperCase(), text(symbol).toLowerCase(), text(name).slice(0, 4)])
    expect(addresses(await listed(`?q=${encodeURIComponent(word)}`)), word).toContain(text(first?.address));
  expect(await listed(`?q=${encodeURIComponent(text(name))}&type=ERC-1155`)).toEqual([]);
  expect(await listed('?q=nothing%20is%20called%20this')).toEqual([]);
  expect(await listed('?q=')).toEqual(await listed());
});
