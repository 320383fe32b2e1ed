import { expect, test } from 'vitest';
import { addressNft, addressNftCollection } from '#data/backends/blockscout/normalise/holdings.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { itemsOf, withoutNewerFields } from './generations.ts';
import { MISSING, serving } from './serving.ts';

const ADDRESS = `0x${'9'.repeat(40)}`;

test('collections are the same in every generation, and their NFTs match the list of NFTs', async () => {
  const latest = itemsOf(fixtureOf('listAddressNftCollections', 'v12').body).map(addressNftCollection);

  for (const { name, body } of fixturesOf('listAddressNftCollections')) {
    const items = itemsOf(body).map(addressNftCollection);
    const nfts = itemsOf(fixtureOf('listAddressNfts', name).body).map(addressNft);
    const page = { items, next_page_params: null };
    expect(await validates('listAddressNftCollections', page), name).toEqual([]);
    expect(withoutNewerFields(items), name).toEqual(withoutNewerFields(latest));
    expect(
      items.flatMap(({ token_instances: instances }) => instances),
      name,
    ).toEqual(nfts);
  }
  expect(latest.map(({ amount, token_instances: instances }) => [amount, instances.length])).toEqual([
    ['1', 1],
    ['9007199254740993', 2],
  ]);
});

test('an uncounted collection has no amount', () => {
  const found = addressNftCollection({ token: null, amount: null, token_instances: [] });

  expect(found).toEqual({ token: null, amount: null, token_instances: [] });
});

test('an address unknown upstream has no collections', async () => {
  await using served = await serving(() => MISSING);

  const { status, body } = await served.get(`/addresses/${ADDRESS}/nft/collections`);

  expect([status, body]).toEqual([200, { items: [], next_page_params: null }]);
});
