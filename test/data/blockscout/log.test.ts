import { expect, test } from 'vitest';
import { log } from '#data/backends/blockscout/normalise/log.ts';
import { fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { itemsOf, unreadable, withoutNewerFields } from './generations.ts';

const LISTS = ['listTransactionLogs', 'listAddressLogs'];
const pageOf = (id: string, name: string) => itemsOf(fixtureOf(id, name).body).map(log);
const changed = (fields: object) => ({
  ...fieldsOf(itemsOf(fixtureOf('listTransactionLogs', 'v11').body)[0]),
  ...fields,
});

test.each(LISTS.flatMap(id => fixturesOf(id).map(one => ({ id, ...one }))))(
  'the logs of $name of $id are those of the contract',
  async ({ id, body }) => {
    expect(await validates(id, { items: itemsOf(body).map(log), next_page_params: null })).toEqual([]);
  },
);

test.each(LISTS)(
  'every generation has the same values in %s, except for the block, which came with 5.3',
  id => {
    const newest = pageOf(id, 'v12');
    const withoutBlock = newest.map(({ block_hash: _hash, block_number: _number, ...rest }) => rest);

    expect(withoutNewerFields(pageOf(id, 'v5'))).toEqual(withoutNewerFields(withoutBlock));
    for (const name of ['v6.9', 'v11']) expect(pageOf(id, name), name).toEqual(newest);
  },
);

test('a log has the contract’s fields', () => {
  const [transfer] = pageOf('listTransactionLogs', 'v12');

  expect(transfer).toMatchObject({
    address: { name: 'FiatTokenProxy', implementation_name: 'FiatTokenV2_2' },
    block_number: 19854321,
    data: `0x${(25_000_000).toString(16).padStart(64, '0')}`,
    index: 124,
    smart_contract: { name: 'FiatTokenProxy' },
    transaction_hash: '0x431a75a0d711dfe3639aae96eb8f9facc2fd74df5aa611067f2511cc9fefc229',
  });
  expect(transfer?.decoded).toEqual({
    method_call: 'Transfer(address indexed from, address indexed to, uint256 value)',
    method_id: 'ddf252ad',
    parameters: [
      { name: 'from', type: 'address', value: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045', indexed: true },
      { name: 'to', type: 'address', value: '0x28C6c06298d514Db089934071355E5743bf21d60', indexed: true },
      { name: 'value', type: 'uint256', value: '25000000', indexed: false },
    ],
  });
});

test('topics have no padding', () => {
  const counts = pageOf('listTransactionLogs', 'v5').map(({ topics }) => topics.length);

  expect(counts).toEqual([3, 0, 1]);
  expect(pageOf('listTransactionLogs', 'v5')[0]?.topics[0]).toBe(
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  );
});

test('lists and tuples among the values are compact JSON strings', () => {
  const [, , batch] = pageOf('listAddressLogs', 'v6.9');

  expect(batch?.decoded?.parameters.map(({ value }) => value)).toEqual([
    '["1","2"]',
    '[["0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045","true"],["0x28C6c06298d514Db089934071355E5743bf21d60","false"]]',
  ]);
});

test('a log between transactions, as on Celo, carries the hash of its block', () => {
  const [between] = pageOf('listAddressLogs', 'v11-celo');

  expect(between?.transaction_hash).toBe(between?.block_hash);
  expect(between?.smart_contract).toBeNull();
});

test('where old and new names disagree, the newest is used, and hashes are in lower case', () => {
  const [old, fresh] = ['aA', 'Bb'].map(byte => `0x${byte.repeat(32)}`);

  expect(log(changed({ tx_hash: old, transaction_hash: fresh })).transaction_hash).toBe(
    `0x${'bb'.repeat(32)}`,
  );
  expect(log(changed({ tx_hash: old, transaction_hash: null })).transaction_hash).toBe(
    `0x${'aa'.repeat(32)}`,
  );
});

test.each([
  ['address', { address: null }],
  ['data', { data: null }],
  ['index', { index: null }],
  ['transaction_hash', { transaction_hash: null, block_hash: null }],
])('a log without %s is unreadable there', (path, fields) => {
  expect(unreadable(() => log(changed(fields)))).toBe(path);
});
