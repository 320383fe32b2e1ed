import { describe, expect, test } from 'vitest';
import type { Behaviour } from '../../lab/scripted-upstream.ts';
import { fixtureOf, fixturesOf, violationsOf } from './fixtures.ts';
import { about, always, failureOf, openedThirdweb, sentTo } from './opened-thirdweb.ts';

const CARDS = '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d';
const OWNER = '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be';
const links = { resolve_metadata_links: 'true' } as const;
const page = { ...links, limit: 20, page: 0 };
const ofOwner = (query: object = {}) => ({ path: {}, query: { owner_address: [OWNER], ...page, ...query } });
const plain = { ...page, include_owners: 'false' } as const;

test.each(['listOwnedNfts', 'listContractNfts', 'getNft'] as const)(
  '%s answers in the form of the contract',
  async operation => {
    for (const fixture of fixturesOf(operation)) {
      await using to = await openedThirdweb(always(fixture));
      const { insights } = to;
      const data = {
        listOwnedNfts: () => insights.listOwnedNfts(ofOwner(), about(1)),
        listContractNfts: () =>
          insights.listContractNfts({ path: { contract_address: CARDS }, query: plain }, about(1)),
        getNft: () =>
          insights.getNft({ path: { contract_address: CARDS, token_id: '7' }, query: plain }, about(1)),
      };
      const found = await data[operation]();

      expect(found).toHaveLength(1);
      expect(await violationsOf(operation, { data: found })).toEqual([]);
    }
  },
);

test('an NFT has upstream’s data, its owner from the request, and no fields outside the contract', async () => {
  await using to = await openedThirdweb(always(fixtureOf('listOwnedNfts', '2025-10')));

  expect(await to.insights.listOwnedNfts(ofOwner(), about(1))).toEqual([
    {
      chain_id: 1,
      contract_address: CARDS,
      token_id: '7',
      token_type: 'erc721',
      balance: '1',
      owner_addresses: [OWNER],
      name: 'Postcard 7',
      image_url: 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/7.png',
      status: 'ok',
      metadata_url: 'https://assets.example.org/7',
      extra_metadata: { attributes: [{ trait_type: 'Colour', value: 'Blue' }] },
      collection: { name: 'Postcards' },
      contract: { chain_id: 1, address: CARDS, name: 'Postcards', symbol: 'CARD', type: 'erc721' },
    },
  ]);
});

test('a hexadecimal id and another spelling of the standard are read, and an unknown amount is null', async () => {
  await using to = await openedThirdweb(always(fixtureOf('listContractNfts', '2025-10')));
  const request = { path: { contract_address: CARDS }, query: plain };

  expect(await to.insights.listContractNfts(request, about(1))).toMatchObject([
    { token_id: '8', token_type: 'erc1155', balance: null, owner_addresses: [OWNER], status: 'pending' },
  ]);
});

describe('asks upstream', () => {
  const nothing = () => ({ json: { data: [] } });

  test('about each owner separately, with the contracts', async () => {
    await using to = await openedThirdweb(nothing);
    const other = `0x${'12'.repeat(20)}`;
    await to.insights.listOwnedNfts(
      ofOwner({ owner_address: [OWNER, other], contract_address: [CARDS], resolve_metadata_links: 'false' }),
      about(1, 10),
    );

    expect(to.requests.map(sentTo).toSorted()).toEqual(
      [OWNER, other]
        .map(owner => [
          'chain_id=1',
          'chain_id=10',
          `owner_address=${owner}`,
          `contract_address=${CARDS}`,
          'limit=20',
          'page=0',
          'resolve_metadata_links=false',
        ])
        .toSorted(),
    );
  });

  test('for pages of a hundred, for any limit of ours', async () => {
    const row = (id: number) => ({
      chain_id: 1,
      contract_address: CARDS,
      token_id: String(id),
      token_type: 'erc721',
      balance: '1',
    });
    await using to = await openedThirdweb(({ query }) => {
      const first = Number(query.get('page')) * 100;
      return { json: { data: Array.from({ length: 100 }, (_, at) => row(first + at)) } };
    });
    const request = { path: { contract_address: CARDS }, query: { ...plain, limit: 250, page: 1 } };
    const data = await to.insights.listContractNfts(request, about(1));

    expect(data.map(one => Number(one.token_id))).toEqual(Array.from({ length: 250 }, (_, at) => 250 + at));
    expect(to.requests.map(({ query }) => query.get('page'))).toEqual(['2', '3', '4']);
  });
});

test.each<[string, Behaviour]>([
  ['a 404', { status: 404, json: { error: 'Not found' } }],
  ['an empty list', { json: { data: [] } }],
])('an NFT that upstream lacks, by %s, is not found', async (_, behaviour) => {
  await using to = await openedThirdweb(() => behaviour);
  const request = { path: { contract_address: CARDS, token_id: '9' }, query: { ...links, ...plain } };

  expect(await failureOf(to.insights.getNft(request, about(1)))).toMatchObject({ kind: 'not_found' });
});
