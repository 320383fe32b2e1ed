import { expect, test } from 'vitest';
import {
  addressWithdrawal,
  blockWithdrawal,
  withdrawal,
} from '#data/backends/blockscout/normalise/withdrawal.ts';
import { each, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

const READERS = {
  listWithdrawals: withdrawal,
  listBlockWithdrawals: blockWithdrawal,
  listAddressWithdrawals: addressWithdrawal,
} as const;

const CASES = Object.entries(READERS);
const itemsOf = (page: unknown, read: (item: unknown) => object) => each(fieldsOf(page).items, read);
const upstreamItem = () => fieldsOf(listOf(fieldsOf(fixtureOf('listWithdrawals', 'v11').body).items)[0]);

test.each(CASES)('%s of every generation is a page of the contract', async (operationId, read) => {
  const fixtures = fixturesOf(operationId);

  expect(fixtures.map(({ name }) => name)).toEqual(['v5', 'v6', 'v9', 'v11', 'v12']);
  for (const { name, body } of fixtures) {
    const items = itemsOf(body, read);
    expect(items, name).toHaveLength(2);
    expect(await validates(operationId, { items, next_page_params: null }), name).toEqual([]);
  }
});

test.each(CASES)('%s is the same in every generation', (operationId, read) => {
  const latest = itemsOf(fixtureOf(operationId, 'v12').body, read);

  for (const { name, body } of fixturesOf(operationId)) expect(itemsOf(body, read), name).toEqual(latest);
});

test('a withdrawal has every field of the contract with upstream’s value', () => {
  expect(withdrawal(upstreamItem())).toEqual({
    index: 46018733,
    amount: '18903277000000000',
    validator_index: 1203411,
    receiver: {
      hash: '0xB9D7934878B5FB9610B3fE8A5e441e8fad7E293f',
      implementation_name: null,
      is_contract: false,
      is_verified: false,
      name: null,
      private_tags: [],
      public_tags: [],
      watchlist_names: [],
    },
    block_number: 19854321,
    timestamp: '2024-05-12T18:21:35.000000Z',
  });
});

test('a block’s list omits the block, and an address’s list omits the address', () => {
  const item = upstreamItem();

  expect(Object.keys(blockWithdrawal(item))).toEqual(['index', 'amount', 'validator_index', 'receiver']);
  expect(Object.keys(addressWithdrawal(item))).toEqual([
    ...['index', 'amount', 'validator_index', 'block_number', 'timestamp'],
  ]);
});

test('an amount beyond 2^53 is exact, as a string or as a number', () => {
  const [, bare] = itemsOf(fixtureOf('listWithdrawals', 'v6').body, withdrawal);

  expect(fixtureOf('listWithdrawals', 'v6').text).toContain('"amount":32000000000000000000');
  expect(bare).toMatchObject({ amount: '32000000000000000000' });
});

test('numbers may be strings', () => {
  const texts = { index: '46018733', validator_index: '1203411', block_number: '19854321' };

  expect(withdrawal({ ...upstreamItem(), ...texts })).toEqual(withdrawal(upstreamItem()));
});

test('a receiver without lists of tags has empty ones', () => {
  const [first] = listOf(fieldsOf(fixtureOf('listBlockWithdrawals', 'v6').body).items);

  expect(fieldsOf(first).receiver).not.toHaveProperty('private_tags');
  expect(blockWithdrawal(first).receiver).toMatchObject({ private_tags: [], watchlist_names: [] });
});

test.each([
  ['index', undefined, 'index'],
  ['amount', '-1', 'amount'],
  ['validator_index', null, 'validator_index'],
  ['block_number', 1.5, 'block_number'],
  ['timestamp', 'yesterday', 'timestamp'],
  ['receiver', {}, 'receiver.hash'],
])('a withdrawal whose %s is %s is unreadable', (name, value, path) => {
  expect(() => withdrawal({ ...upstreamItem(), [name]: value })).toThrow(
    expect.objectContaining({ name: 'UnreadableRecord', path }),
  );
});
