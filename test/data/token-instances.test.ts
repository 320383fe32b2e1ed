import { expect } from 'vitest';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { record, text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Item, walk } from '../support/walk.ts';

const NOBODY = `0x${'ab'.repeat(20)}`;
const ZERO = `0x${'0'.repeat(40)}`;

const test = testOnOwnDevnet(160);
let chain: EmbeddedChain;
let api: Client;

test.beforeAll(({ chain: ownChain, api: ownApi }) => {
  [chain, api] = [ownChain, ownApi];
});

function contract(artifact: string): string {
  const found = chain.contracts.find(({ artifactName }) => artifactName === artifact);
  if (found === undefined) throw new Error(`no ${artifact}`);
  return found.address.toLowerCase();
}

const listed = async (path: string) => (await walk(api, `/explorer/tokens/${path}`)).items;
const descending = (a: bigint, b: bigint) => (a < b ? 1 : a > b ? -1 : 0);
const hashOf = (item: Item, side: string) => text(record(item[side]).hash);

test('the instances of a token are its owned ids, highest first, each equal to its record', async () => {
  for (const token of [contract('Postcards'), contract('GameItems')]) {
    const transfers = await listed(`${token}/transfers`);
    const held = new Map<string, bigint>();
    for (const item of transfers) {
      const { token_id: id, value = '1' } = record(item.total);
      for (const [side, sign] of [
        ['from', -1n],
        ['to', 1n],
      ] as const)
        if (hashOf(item, side) !== ZERO) {
          const key = `${text(id)}/${hashOf(item, side)}`;
          held.set(key, (held.get(key) ?? 0n) + sign * BigInt(text(value)));
        }
    }
    const ids = [...held].filter(([, value]) => value > 0n).map(([key]) => BigInt(key.split('/')[0] ?? ''));

    const items = await listed(`${token}/instances`);

    expect(items.map(({ id }) => BigInt(text(id)))).toEqual([...new Set(ids)].sort(descending));
    for (const item of items.slice(0, 5))
      expect((await api.get(`/explorer/tokens/${token}/instances/${text(item.id)}`)).body).toEqual(item);
  }
});

test('the instances of one holder match its list of NFTs', async () => {
  for (const token of [contract('Postcards'), contract('GameItems')]) {
    const [transfer] = await listed(`${token}/transfers`);
    const holder = hashOf(record(transfer), 'to');
    const { items: nfts } = await walk(api, `/explorer/addresses/${holder}/nft`);
    const own = nfts.filter(nft => text(record(nft.token).address).toLowerCase() === token);

    const items = await listed(`${token}/instances?holder_address_hash=${holder}`);

    expect(items.map(({ id }) => id)).toEqual(own.map(({ id }) => id).toReversed());
  }
  expect(await listed(`${contract('GameItems')}/instances?holder_address_hash=${NOBODY}`)).toEqual([]);
});

test('transfers and holders of an id are the token’s with this id', async () => {
  for (const token of [contract('Postcards'), contract('GameItems')]) {
    const transfers = await listed(`${token}/transfers`);
    const byId = Map.groupBy(transfers, item => text(record(item.total).token_id));
    const holders = await listed(`${token}/holders`);

    for (const [id, expected] of [...byId].slice(0, 6)) {
      expect(await listed(`${token}/instances/${id}/transfers`), id).toEqual(expected);
      const { body } = await api.get(`/explorer/tokens/${token}/instances/${id}`);
      const found = await listed(`${token}/instances/${id}/holders`);
      if (record(body).is_unique === true)
        expect(found).toEqual([{ address: record(body).owner, value: '1', token_id: id }]);
      else expect(found).toEqual(holders.filter(holder => holder.token_id === id));
    }
  }
});

test('an id that was never owned has empty lists, and a fungible token or a non-token is a 404', async () => {
  const never = `${contract('GameItems')}/instances/987654321`;
  expect([await listed(`${never}/transfers`), await listed(`${never}/holders`)]).toEqual([[], []]);
  expect(await listed(`${contract('StableToken')}/instances`)).toEqual([]);

  for (const path of [
    `${contract('StableToken')}/instances/1/transfers`,
    `${contract('StableToken')}/instances/1/holders`,
    ...['instances', 'instances/1/transfers', 'instances/1/holders'].map(list => `${NOBODY}/${list}`),
  ])
    expect([path, (await api.get(`/explorer/tokens/${path}`)).status]).toEqual([path, 404]);
});
