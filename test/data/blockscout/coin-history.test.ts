import { expect, test } from 'vitest';
import { coinBalanceChange, coinBalancesByDay } from '#data/backends/blockscout/normalise/holdings.ts';
import { fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { itemsOf, unreadable } from './generations.ts';
import { MISSING, serving } from './serving.ts';

const PATH = `/addresses/0x${'9'.repeat(40)}/coin-balance-history`;

test('coin balance changes are the same in every generation', async () => {
  const latest = itemsOf(fixtureOf('listAddressCoinBalances', 'v12').body).map(coinBalanceChange);

  for (const { name, body } of fixturesOf('listAddressCoinBalances')) {
    const items = itemsOf(body).map(coinBalanceChange);
    expect(await validates('listAddressCoinBalances', { items, next_page_params: null }), name).toEqual([]);
    expect(items, name).toEqual(latest);
  }
});

test('balances by day are the same in every generation, except for the number of days, which came with 6.5', async () => {
  const latest = coinBalancesByDay(fixtureOf('getAddressCoinBalancesByDay', 'v12').body);

  for (const { name, body } of fixturesOf('getAddressCoinBalancesByDay')) {
    const found = coinBalancesByDay(body);
    expect(await validates('getAddressCoinBalancesByDay', found), name).toEqual([]);
    expect(found, name).toEqual(name === 'v5' ? { ...latest, days: null } : latest);
  }
});

test('a change without one of its numbers or its time is unreadable', () => {
  const [first] = itemsOf(fixtureOf('listAddressCoinBalances', 'v12').body).map(fieldsOf);
  for (const name of ['block_number', 'delta', 'value', 'block_timestamp'])
    expect(unreadable(() => coinBalanceChange({ ...first, [name]: null }))).toBe(name);
});

test('an address unknown upstream has no changes and no days', async () => {
  await using served = await serving(() => MISSING);

  const changes = await served.get(PATH);
  const days = await served.get(`${PATH}-by-day`);

  expect([changes.status, changes.body]).toEqual([200, { items: [], next_page_params: null }]);
  expect([days.status, days.body]).toEqual([200, { days: null, items: [] }]);
});

test('a list continues below a block number', async () => {
  const page = JSON.parse(fixtureOf('listAddressCoinBalances', 'v12').text);
  await using served = await serving(() => ({ json: page }));

  const { body } = await served.get(`${PATH}?block_number=19860000`);

  expect(listOf(body.items)).toHaveLength(2);
  expect(body.next_page_params).toMatchObject({ block_number: 19_850_000 });
  expect(served.requests.map(({ query }) => query.toString())).toEqual(['block_number=19860000']);
});
