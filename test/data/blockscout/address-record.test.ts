import { describe, expect, test } from 'vitest';
import { addressDetails, addressToken } from '#data/backends/blockscout/normalise/holdings.ts';
import { addressCounters, transactionStats } from '#data/backends/blockscout/normalise/statistics.ts';
import { listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { itemsOf, withoutNewerFields } from './generations.ts';
import { MISSING, serving } from './serving.ts';

const RECORDS = {
  getAddress: addressDetails,
  getAddressCounters: addressCounters,
  getTransactionStats: transactionStats,
} as const;

describe.each(Object.entries(RECORDS))('%s', (operation, read) => {
  const fixtures = fixturesOf(operation).filter(({ name }) => /^v[\d.]+$/.test(name));

  test.each(fixtures)('$name has the values of the latest generation', async fixture => {
    const found = read(fixture.body);

    expect(await validates(operation, found)).toEqual([]);
    expect(withoutNewerFields(withoutToken(found))).toEqual(
      withoutNewerFields(withoutToken(read(fixtureOf(operation, 'v12').body))),
    );
  });
});

/** Tokens are tested elsewhere. */
function withoutToken(found: object): object {
  return { ...found, token: null };
}

test('a proxy’s implementation is read under each of its former names', () => {
  for (const name of ['v5', 'v6.9', 'v8', 'v11', 'v12'])
    expect(addressDetails(fixtureOf('getAddress', name).body).implementations, name).toEqual([
      { address_hash: '0x43506849D7C04F9138D1A2050bbF3A0c054402dd', name: 'FiatTokenV2_2' },
    ]);
});

test('an account unknown upstream has nulls', () => {
  expect(addressDetails(fixtureOf('getAddress', 'v12-account').body)).toMatchObject({
    coin_balance: null,
    exchange_rate: null,
    block_number_balance_updated_at: null,
    creator_address_hash: null,
    creation_transaction_hash: null,
    implementations: [],
    token: null,
    has_logs: false,
  });
});

test('the list of all balances equals the pages', () => {
  for (const { name, body } of fixturesOf('listAddressTokenBalances')) {
    const ofPage = itemsOf(fixtureOf('listAddressTokens', name).body).map(addressToken);
    expect(listOf(body).map(addressToken), name).toEqual(ofPage);
  }
});

const ADDRESS = `0x${'9'.repeat(40)}`;

test('of more than 250 balances the first 250 are answered', async () => {
  const [balance] = listOf(fixtureOf('listAddressTokenBalances', 'v12').body);
  const all = Array.from({ length: 300 }, (_, place) => ({ ...Object(balance), value: String(place) }));
  await using served = await serving(() => ({ json: all }));

  const { status, body } = await served.get(`/addresses/${ADDRESS}/token-balances`);

  expect([status, listOf(body.items).length]).toEqual([200, 250]);
});

test('an address unknown upstream has no balances and no record', async () => {
  await using served = await serving(() => MISSING);

  const balances = await served.get(`/addresses/${ADDRESS}/token-balances`);
  const found = await served.get(`/addresses/${ADDRESS}`);

  expect([balances.status, balances.body.items, found.status]).toEqual([200, [], 404]);
});

test('a record or a transfer of another address than the requested one is an outage', async () => {
  const transfers = JSON.parse(fixtureOf('listAddressTokenTransfers', 'v12').text);
  const details = JSON.parse(fixtureOf('getAddress', 'v12').text);
  await using served = await serving(({ path }) => ({
    json: path.includes('transfers') ? transfers : details,
  }));

  const found = await served.get(`/addresses/${ADDRESS}`);
  const list = await served.get(`/addresses/${ADDRESS}/token-transfers`);

  expect([found.status, list.status]).toEqual([502, 502]);
});

test('a version that reads `stats` as a transaction hash has no statistics', async () => {
  await using served = await serving(() => ({ status: 422, json: { message: 'Invalid parameter(s)' } }));

  expect((await served.get('/transactions/stats')).status).toBe(501);
});
