import { describe, expect, test } from 'vitest';
import {
  kindOf,
  searchRedirect,
  searchResultOrNull,
} from '#data/backends/blockscout/normalise/search-result.ts';
import { each, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { type Fixture, fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

const HASH = '0x5f1c0e7a9b3d2468ace013579bdf02468ace13579bdf02468ace13579bdf0246';
const BLOCK = '0x0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9';
const ALICE = '0x4C1f9a0B27D3e85A6F10c2b7D9384E5f6A7B8C90';

function resultsOf({ body }: Fixture) {
  return each(fieldsOf(body).items, searchResultOrNull).filter(result => result !== null);
}

function leftOutOf({ body }: Fixture): string[] {
  return listOf(fieldsOf(body).items)
    .filter(item => searchResultOrNull(item) === null)
    .map(kindOf);
}

function withoutPriority(fixture: Fixture): unknown[] {
  return resultsOf(fixture)
    .slice(0, 6)
    .map(({ priority: _, ...result }) => result);
}

describe('search', () => {
  test.each(fixturesOf('search'))('$name becomes the contract’s records', async fixture => {
    const items = resultsOf(fixture);

    expect(items.length).toBeGreaterThan(0);
    expect(await validates('search', { items, next_page_params: null })).toEqual([]);
  });

  test.each(['v5', 'v6', 'v6.9', 'v7', 'v8', 'v11'])('%s finds the same as 12, except for weights', name => {
    expect(withoutPriority(fixtureOf('search', name))).toEqual(withoutPriority(fixtureOf('search', 'v12')));
  });

  test('weights are 0 in versions without them', () => {
    expect(resultsOf(fixtureOf('search', 'v6'))[0]?.priority).toBe(0);
    expect(resultsOf(fixtureOf('search', 'v6.9'))[0]?.priority).toBe(2);
    expect(resultsOf(fixtureOf('search', 'v11-pending'))[1]?.priority).toBe(2);
  });

  test('labels, names and tags become the address that they lead to', () => {
    expect(resultsOf(fixtureOf('search', 'v11')).slice(3)).toMatchObject([
      { type: 'address', name: 'Tea House 3', ens_info: null },
      { type: 'block', block_number: 19854321 },
      { type: 'transaction', transaction_hash: HASH },
      { type: 'address', ens_info: { name: 'teaalice.eth', names_count: 2 } },
      { type: 'contract', name: 'TeaPot' },
    ]);
  });

  test('a name has only the fields of the contract', () => {
    const [found] = resultsOf(fixtureOf('search', 'v11')).filter(
      result => result.type === 'address' && result.ens_info !== null,
    );

    expect(found).toMatchObject({
      ens_info: {
        expiry_date: '2032-05-03T00:00:00.000Z',
        name: 'teaalice.eth',
        names_count: 2,
      },
    });
    expect(Object.keys(found ?? {})).not.toContain('certified');
  });

  test('kinds outside the contract and names without an address are left out, and the log names them', () => {
    expect(leftOutOf(fixtureOf('search', 'v5'))).toEqual([]);
    expect(leftOutOf(fixtureOf('search', 'v6'))).toEqual(['user_operation', 'blob']);
    expect(leftOutOf(fixtureOf('search', 'v12'))).toEqual([
      'user_operation',
      'blob',
      'tac_operation',
      'ens_domain',
      'other',
    ]);
  });

  test('unknown kinds are counted as one, however many an upstream invents', () => {
    expect([{ type: null }, { type: 'made_up' }, { type: {} }, null].map(kindOf)).toEqual(
      Array.from({ length: 4 }, () => 'other'),
    );
  });

  test('a name for the zero address is left out', () => {
    const name = { type: 'ens_domain', address_hash: `0x${'0'.repeat(40)}`, ens_info: { name: 'a.eth' } };

    expect(searchResultOrNull(name)).toBeNull();
  });

  test('an address with code is a contract, under any kind of result', () => {
    const label = { type: 'label', name: 'Shop', address_hash: ALICE, is_smart_contract_address: true };

    expect(searchResultOrNull(label)).toEqual({
      type: 'contract',
      name: 'Shop',
      address_hash: ALICE,
      url: `/address/${ALICE}`,
      is_smart_contract_verified: null,
      ens_info: null,
      priority: 0,
    });
  });

  test('a block without a time or of an unknown type is left out', () => {
    expect(leftOutOf(fixtureOf('search', 'v5.1'))).toEqual(['block']);
    expect(
      searchResultOrNull({
        type: 'block',
        block_hash: BLOCK,
        block_number: 1,
        timestamp: '2024-05-12T18:21:35.000000Z',
        block_type: 'ghost',
      }),
    ).toBeNull();
  });

  test('a pending transaction has no time', () => {
    expect(resultsOf(fixtureOf('search', 'v11-pending'))[0]).toEqual({
      type: 'transaction',
      transaction_hash: HASH,
      url: `/tx/${HASH}`,
      timestamp: null,
      priority: 0,
    });
  });

  test('an orphaned block and a token keep values that came in another type', () => {
    const [, block, token] = resultsOf(fixtureOf('search', 'v11-pending'));

    expect(block).toMatchObject({ block_number: 19854321, block_type: 'reorg' });
    expect(token).toMatchObject({ total_supply: '90071992547409930000000000000', token_type: 'ERC-7984' });
  });

  test('a block from a version without block types is on the main chain', () => {
    const found = {
      type: 'block',
      block_hash: BLOCK,
      block_number: 1,
      timestamp: '2024-05-12T18:21:35.000000Z',
    };

    expect(searchResultOrNull(found)).toMatchObject({ block_number: 1, block_type: 'block' });
    expect(searchResultOrNull({ ...found, block_type: null })).toMatchObject({ block_type: 'block' });
  });

  test.each([
    { type: 'token', name: 'Tea' },
    { type: 'label', name: 'Tea', address: '0x12' },
    { type: 'block', block_number: 1 },
    { type: 'block', block_hash: BLOCK },
    { type: 'transaction', tx_hash: null },
  ])('%j is no target and is left out', item => {
    expect(searchResultOrNull(item)).toBeNull();
  });
});

describe('search redirect', () => {
  const redirectOf = (name: string) => searchRedirect(fixtureOf('searchRedirect', name).body);

  test.each(fixturesOf('searchRedirect'))('$name becomes the contract’s record', async ({ body }) => {
    expect(await validates('searchRedirect', searchRedirect(body))).toEqual([]);
  });

  test('leads to a block, a transaction and an address', () => {
    expect(redirectOf('v5')).toEqual({ redirect: true, type: 'block', parameter: BLOCK });
    expect(redirectOf('v6.9')).toEqual({ redirect: true, type: 'transaction', parameter: HASH });
    expect(redirectOf('v11')).toMatchObject({ redirect: true, type: 'address' });
  });

  test.each(['v11-nowhere', 'v11-user-operation', 'v12-name'])('%s does not redirect', name => {
    expect(redirectOf(name)).toEqual({ redirect: false, type: null, parameter: null });
  });

  test('a redirect without its parameter is unreadable', () => {
    expect(() => searchRedirect({ redirect: true, type: 'block', parameter: '1' })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: 'parameter' }),
    );
  });
});
