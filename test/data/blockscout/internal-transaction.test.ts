import { expect, test } from 'vitest';
import { internalTransaction } from '#data/backends/blockscout/normalise/internal-transaction.ts';
import { fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { itemsOf, unreadable, withoutNewerFields } from './generations.ts';

const LISTS = [
  'listTransactionInternalTransactions',
  'listInternalTransactions',
  'listAddressInternalTransactions',
];
const pageOf = (id: string, name: string) => itemsOf(fixtureOf(id, name).body).map(internalTransaction);
const changed = (fields: object, position = 1) => ({
  ...fieldsOf(itemsOf(fixtureOf('listTransactionInternalTransactions', 'v11').body)[position]),
  ...fields,
});

test.each(LISTS.flatMap(id => fixturesOf(id).map(one => ({ id, ...one }))))(
  'the internal transactions of $name of $id are those of the contract',
  async ({ id, body }) => {
    const items = itemsOf(body).map(internalTransaction);

    expect(await validates(id, { items, next_page_params: null })).toEqual([]);
  },
);

test.each(LISTS)('every generation has the same values in %s', id => {
  const pages = fixturesOf(id).map(({ body }) => itemsOf(body).slice(0, 4).map(internalTransaction));

  for (const page of pages) expect(withoutNewerFields(page)).toEqual(withoutNewerFields(pages.at(-1)));
  expect(pages[0]).toHaveLength(4);
});

test('calls, creations and failures have the contract’s fields', () => {
  const [delegated, call, creation, failed] = pageOf('listTransactionInternalTransactions', 'v6.9');

  expect(delegated).toMatchObject({ type: 'delegatecall', value: '0', index: 1 });
  expect(call).toMatchObject({
    block_number: 19854321,
    created_contract: null,
    error: null,
    gas_limit: '2300',
    index: 2,
    success: true,
    timestamp: '2024-05-12T18:21:35.000000Z',
    to: { hash: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045' },
    transaction_hash: '0x431a75a0d711dfe3639aae96eb8f9facc2fd74df5aa611067f2511cc9fefc229',
    type: 'call',
    value: '12000000000000000',
  });
  expect(creation).toMatchObject({ type: 'create', to: null, created_contract: { name: 'Vault' } });
  expect(failed).toMatchObject({ success: false, error: 'Reverted' });
});

test('a creation without a type, as 5.1 sends it, is still a creation', () => {
  expect(pageOf('listAddressInternalTransactions', 'v5.1')[2]?.type).toBe('create');
});

test('the beneficiary of a self-destruct was not called, and the amount it received is exact', () => {
  const destroyed = pageOf('listInternalTransactions', 'v8').at(-1);

  expect(destroyed).toMatchObject({ type: 'selfdestruct', to: null, value: '12000000000000000' });
});

test('delegate and static calls transfer nothing, even if a trace repeats a value', () => {
  expect(internalTransaction(changed({ type: 'delegatecall', value: '5' })).value).toBe('0');
  expect(internalTransaction(changed({ type: 'staticcall', value: null })).value).toBe('0');
  expect(internalTransaction(changed({ type: 'callcode', value: '5' })).value).toBe('5');
});

test('time and gas are null when unknown, and success follows from the error', () => {
  const bare = internalTransaction(
    changed({ timestamp: null, gas_limit: null, success: null, error: 'out of gas' }),
  );

  expect(bare).toMatchObject({ timestamp: null, gas_limit: null, success: false, error: 'out of gas' });
});

test('where old and new names disagree, the newest is used', () => {
  expect(internalTransaction(changed({ block: 1, block_number: 2 })).block_number).toBe(2);
});

test.each([
  ['block_number', { block_number: null }],
  ['transaction_hash', { transaction_hash: '0x12' }],
  ['index', { index: null }],
  ['from', { from: null }],
  ['type', { type: null }],
  ['value', { value: null }],
])('an internal transaction without %s is unreadable there', (path, fields) => {
  expect(unreadable(() => internalTransaction(changed(fields)))).toBe(path);
});
