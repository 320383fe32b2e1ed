import { expect, test } from 'vitest';
import { addressNftCollection, addressToken } from '#data/backends/blockscout/normalise/holdings.ts';
import { eachInTurns } from '#data/backends/upstream-json/read-records.ts';
import { isObject } from '#lib/json.ts';
import { fixtureOf } from '../../lab/blockscout-fixtures.ts';
import { list, record } from '../../lab/json.ts';
import { turnsUntil } from '../../support/turns.ts';
import { itemsOf } from './generations.ts';
import { serving } from './serving.ts';

const ADDRESS = `0x${'1'.repeat(40)}`;
/** A stranger can mint as much of a token, but no value on a chain has 120 digits. */
const TOO_LONG = '9'.repeat(120);

const tokens = itemsOf(JSON.parse(fixtureOf('listAddressTokens', 'v12').text)).map(record);
const transactions = itemsOf(JSON.parse(fixtureOf('listMainPageTransactions', 'v11').text)).map(record);

test('one unreadable record is left out of a page, logged and counted', async () => {
  const [first = {}, second = {}, third = {}] = tokens;
  await using served = await serving(() => ({
    json: { items: [first, { ...second, value: TOO_LONG }, third], next_page_params: null },
  }));

  const { status, body } = await served.get(`/addresses/${ADDRESS}/tokens`);
  const metrics = await served.metrics();

  expect(status).toBe(200);
  expect(list(body.items).map(record).map(addressIn)).toEqual([first, third].map(addressIn));
  expect(served.warnings()).toMatchObject([
    { msg: 'unreadable records are left out', operation: 'listAddressTokens', paths: ['items[1].value'] },
  ]);
  expect(metrics).toContain(
    'tollgate_backend_dropped_records_total{chain="1",backend="blockscout-1",kind="unreadable"} 1',
  );
});

test.each([
  ['a list without pages', `/addresses/${ADDRESS}/token-balances`, tokens, { value: TOO_LONG }],
  ['the latest transactions', '/main-page/transactions', transactions, { value: TOO_LONG }],
])('an unreadable record is also left out of %s', async (_name, path, records, change) => {
  await using served = await serving(() => ({ json: [{ ...records[0], ...change }, ...records.slice(1)] }));

  const { status, body } = await served.get(path);

  expect(status).toBe(200);
  expect(list(body.items)).toHaveLength(records.length - 1);
});

test('a list of which no record can be read is a failure, not an empty list', async () => {
  const json = { items: tokens.map(token => ({ ...token, value: 'many' })), next_page_params: null };
  await using served = await serving(() => ({ json }));

  expect((await served.get(`/addresses/${ADDRESS}/tokens`)).status).toBe(502);
});

test('a list with more than ten unreadable records is a failure', async () => {
  const items = (count: number) => [...Array(count).fill({}), ...Array(40).fill(tokens[0])];
  await using few = await serving(() => ({ json: { items: items(10), next_page_params: null } }));
  await using many = await serving(() => ({ json: { items: items(11), next_page_params: null } }));

  expect((await few.get(`/addresses/${ADDRESS}/tokens`)).status).toBe(200);
  expect((await many.get(`/addresses/${ADDRESS}/tokens`)).status).toBe(502);
});

test('numbers with too many digits take away their own records only, however many there are', async () => {
  const long = tokens.map(token => ({ ...token, value: TOO_LONG }));
  const next = { fiat_value: null, id: 7, value: '1' };
  await using alone = await serving(() => ({ json: { items: [long[0]], next_page_params: null } }));
  await using many = await serving(() => ({
    json: { items: [...Array(40).fill(long[0]), tokens[1]], next_page_params: next },
  }));

  const none = await alone.get(`/addresses/${ADDRESS}/tokens`);
  const page = await many.get(`/addresses/${ADDRESS}/tokens`);
  const { cursor } = record(page.body.next_page_params);

  expect(none).toMatchObject({ status: 200, body: { items: [], next_page_params: null } });
  expect(page).toMatchObject({ status: 200, body: { items: [{ value: tokens[1]?.value }] } });
  expect((await many.get(`/addresses/${ADDRESS}/tokens?cursor=${String(cursor)}`)).status).toBe(502); // the same page
  expect(many.warnings()[0]?.paths).toHaveLength(10);
});

test('an NFT whose id has too many digits leaves its collection and the others', () => {
  const [first] = itemsOf(fixtureOf('listAddressNftCollections', 'v12').body).map(record);
  const [nft] = list(first?.token_instances).map(record);

  const { token_instances } = addressNftCollection({
    ...first,
    token_instances: [{ ...nft, id: TOO_LONG }, nft],
  });

  expect(token_instances).toHaveLength(1);
});

test('a single record with an unreadable value is still a failure', async () => {
  await using served = await serving(({ path }) =>
    path.startsWith('/transactions/') ? { json: { ...transactions[0], value: TOO_LONG } } : 'silence',
  );

  expect((await served.get(`/transactions/${String(transactions[0]?.hash)}`)).status).toBe(502);
});

test('a list with very many records is read in many turns of the event loop', async () => {
  const { signal } = new AbortController();

  const reading = eachInTurns(Array(20_000).fill(tokens[0]), addressToken, { signal });
  const turns = await turnsUntil(reading);

  expect(await reading).toHaveLength(20_000);
  expect(turns).toBeGreaterThan(300);
});

test('a page with more than 1,000 records is a failure', async () => {
  const items = (count: number) => ({ items: Array(count).fill(tokens[0]), next_page_params: null });
  await using most = await serving(() => ({ json: items(1_000) }));
  await using tooMany = await serving(() => ({ json: items(1_001) }));

  expect((await most.get(`/addresses/${ADDRESS}/tokens`)).status).toBe(200);
  expect((await tooMany.get(`/addresses/${ADDRESS}/tokens`)).status).toBe(502);
});

function addressIn({ token }: Record<string, unknown>): string {
  const { address_hash: hash, address } = isObject(token) ? token : {};
  return String(hash ?? address).toLowerCase();
}
