import { describe, expect, test } from 'vitest';
import {
  addressNft,
  addressToken,
  coinHolder,
  coinTotals,
} from '#data/backends/blockscout/normalise/holdings.ts';
import { each, fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { type Fixture, fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

function itemsOf<Item>({ body }: Fixture, read: (item: unknown) => Item): Item[] {
  return each(fieldsOf(body).items, read);
}

/** Generations without a variant, except the latest, which is the reference. */
const EARLIER = /^v(?!12)[\d.]+$/;

/** Checks that apply to every list of holdings; `totals` are the fields next to its items. */
function recordsAreWhole(
  operation: string,
  read: (item: unknown) => unknown,
  totals: (body: unknown) => object = () => ({}),
): void {
  const fixtures = fixturesOf(operation);
  const latest = itemsOf(fixtureOf(operation, 'v12'), read);

  test.each(fixtures)('$name becomes the contract’s record', async fixture => {
    const items = itemsOf(fixture, read);

    expect(items.length).toBeGreaterThan(0);
    const page = { ...totals(fixture.body), items, next_page_params: null };
    expect(await validates(operation, page)).toEqual([]);
  });

  test.each(fixtures.filter(({ name }) => EARLIER.test(name)))(
    '$name has the values of the latest generation',
    fixture => expect(itemsOf(fixture, read)).toEqual(latest),
  );
}

describe('token balances of an address', () => {
  const balancesOf = (name: string) => itemsOf(fixtureOf('listAddressTokens', name), addressToken);

  recordsAreWhole('listAddressTokens', addressToken);

  test('the number of holders is a number', () => {
    expect(balancesOf('v5')[0]?.token).toEqual({
      name: 'Tea Leaf',
      decimals: '18',
      symbol: 'TEA',
      address: balancesOf('v11')[0]?.token?.address,
      type: 'ERC-20',
      exchange_rate: '1.0007',
      total_supply: '90071992547409930000000000000',
      holders: 48211,
    });
  });

  test('only a balance of one id has an id and an instance', () => {
    const [fungible, collection, multi] = balancesOf('v6.9');

    expect(fungible).toMatchObject({ token_id: null, value: '1500000000000000000000000000' });
    expect(fungible).not.toHaveProperty('token_instance');
    expect(collection).not.toHaveProperty('token_instance');
    expect(multi).toMatchObject({ token_id: '9007199254740993', token_instance: { id: '9007199254740993' } });
  });

  test('numbers sent in place of strings keep all their digits', () => {
    expect(balancesOf('v11')[2]).toMatchObject({ value: '12', token_id: '9007199254740993' });
  });

  test('an unknown token is null, and so are uncounted holders', () => {
    const [unknown, uncounted] = balancesOf('v11-unknown-token');

    expect(unknown).toEqual({ value: '1', token_id: null, token: null });
    expect(uncounted?.token).toMatchObject({ holders: null, type: 'ZRC-2' });
  });

  test('a balance without its value is unreadable', () => {
    expect(() => each([{ value: '1' }, { value: null }], addressToken)).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: '[1].value' }),
    );
  });

  test('the path of the error leads to a token without an address', () => {
    expect(() => addressToken({ value: '1', token: { address: '0x12' } })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'token.address_hash' }),
    );
  });
});

describe('NFTs of an address', () => {
  const nftsOf = (name: string) => itemsOf(fixtureOf('listAddressNfts', name), addressNft);

  recordsAreWhole('listAddressNfts', addressNft);

  test('an unknown balance is null', () => {
    expect(nftsOf('v11').map(nft => nft.value)).toEqual(['1', '12', null]);
  });

  test('the standard is taken from the token when the item has none', () => {
    const [named, own] = nftsOf('v11-celo');

    expect(named?.token_type).toBe('ERC-1155');
    expect(own).toMatchObject({ token_type: 'ERC-404', token: null });
  });

  test('an NFT without its id or standard is unreadable', () => {
    expect(() => addressNft({ token_type: 'ERC-721' })).toThrow(expect.objectContaining({ path: 'id' }));
    expect(() => addressNft({ id: '1' })).toThrow(expect.objectContaining({ path: 'token_type' }));
  });
});

describe('holders of the native coin', () => {
  const generations = fixturesOf('listAddresses').filter(({ name }) => EARLIER.test(name));
  const holdersOf = (name: string) => itemsOf(fixtureOf('listAddresses', name), coinHolder);

  recordsAreWhole('listAddresses', coinHolder, coinTotals);

  test.each(generations)('$name has the price and the supply of the coin', ({ body }) => {
    expect(coinTotals(body)).toEqual({ exchange_rate: '2500.17', total_supply: '120450000.25' });
  });

  test('an empty string as a count is null, under each of its names', () => {
    for (const { name } of generations) {
      expect(holdersOf(name).map(holder => holder.transaction_count)).toEqual(['184467', null, '0']);
    }
  });

  test('a balance that was never fetched is null', () => {
    expect(holdersOf('v5').map(holder => holder.coin_balance)).toEqual([
      '120450000000000000000000000',
      '9007199254740993',
      null,
    ]);
  });

  test('numbers sent in place of strings keep all their digits', () => {
    expect(holdersOf('v11-testnet')).toMatchObject([
      {
        ens_domain_name: 'alice.eth',
        metadata: { slug: 'team' },
        coin_balance: '120450000000000000000000000',
        transaction_count: '3',
      },
    ]);
  });

  test('a chain without prices has neither price nor supply', () => {
    const { body } = fixtureOf('listAddresses', 'v11-testnet');

    expect(coinTotals(body)).toEqual({ exchange_rate: null, total_supply: null });
  });

  test('a holder without its hash is unreadable', () => {
    expect(() => coinHolder({ coin_balance: '1' })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'hash' }),
    );
  });
});
