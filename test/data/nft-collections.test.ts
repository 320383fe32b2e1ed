import { expect } from 'vitest';
import { list, record, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, walk } from '../support/walk.ts';

/** Maximal number of ids shown per collection. */
const SHOWN = 9;

const test = testOnOwnDevnet(160);
let api: Client;
/** NFTs and path of the address with the most of them. */
let nfts: Item[];
let path: string;

test.beforeAll(async ({ api: ownApi }) => {
  api = ownApi;
  const { items } = await walk(api, '/explorer/token-transfers');
  const holders = items
    .filter(({ token_type: type }) => type !== 'ERC-20')
    .map(({ to }) => text(record(to).hash));
  nfts = [];
  for (const holder of new Set(holders)) {
    const found = await walk(api, `/explorer/addresses/${holder}/nft`);
    if (found.items.length > nfts.length) {
      nfts = found.items;
      path = `/explorer/addresses/${holder}/nft/collections`;
    }
  }
});

const tokenOf = (item: Item) => text(record(item.token).address);

test('collections are an address’s NFTs by contract, with their number and the first of them', async () => {
  const { items } = await walk(api, path);

  const groups = [...Map.groupBy(nfts, tokenOf)];
  expect(items.map(tokenOf)).toEqual(groups.map(([token]) => token));
  expect(items.map(({ amount }) => amount)).toEqual(groups.map(([, held]) => String(held.length)));
  expect(items.map(item => list(item.token_instances))).toEqual(
    groups.map(([, held]) => held.slice(0, SHOWN)),
  );
  expect(nfts.length).toBeGreaterThan(groups.length);
});

test('collections can be limited to types', async () => {
  const { items } = await walk(api, path);

  for (const type of ['ERC-721', 'ERC-1155'])
    expect((await walk(api, `${path}?type=${type}`)).items, type).toEqual(
      items.filter(item => record(item.token).type === type),
    );
  expect((await walk(api, `${path}?type=ERC-404`)).items).toEqual([]);
});
