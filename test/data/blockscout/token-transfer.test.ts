import { expect, test } from 'vitest';
import {
  embeddedTokenTransfer,
  tokenTransferRecord,
} from '#data/backends/blockscout/normalise/token-transfer.ts';
import { fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { itemsOf, unreadable, withoutNewerFields } from './generations.ts';

const BLOCK = 19854321;
const LISTS = ['listTransactionTokenTransfers', 'listTokenTransfers'];
const pageOf = (id: string, name: string) => itemsOf(fixtureOf(id, name).body);
const changed = (position: number, fields: object) => ({
  ...fieldsOf(pageOf('listTransactionTokenTransfers', 'v11')[position]),
  ...fields,
});

test.each(LISTS.flatMap(id => fixturesOf(id).map(one => ({ id, ...one }))))(
  'the transfers of $name of $id are those of the contract',
  async ({ id, body }) => {
    expect(
      await validates(id, { items: itemsOf(body).map(tokenTransferRecord), next_page_params: null }),
    ).toEqual([]);
  },
);

test('every generation has the same transfers, except for NFT descriptions, which came with 7.0', () => {
  const newest = pageOf('listTransactionTokenTransfers', 'v12').map(tokenTransferRecord);
  const withoutInstances = newest.map(({ total, ...rest }) => {
    const { token_instance: _, ...kept } = { token_instance: null, ...total };
    return { ...rest, total: total === null ? null : kept };
  });

  for (const name of ['v5', 'v6.8', 'v6.9']) {
    const page = pageOf('listTransactionTokenTransfers', name).map(item => ({
      ...tokenTransferRecord(item),
      block_number: BLOCK,
    }));
    expect(withoutNewerFields(page), name).toEqual(withoutNewerFields(withoutInstances));
  }
  for (const name of ['v8', 'v11']) {
    expect(pageOf('listTransactionTokenTransfers', name).map(tokenTransferRecord), name).toEqual(newest);
  }
});

test('a fungible transfer has an amount and decimals, and its numeric strings become numbers', () => {
  const [usdc] = pageOf('listTransactionTokenTransfers', 'v6.8').map(tokenTransferRecord);

  expect(usdc).toMatchObject({
    block_number: BLOCK,
    log_index: 124,
    method: 'transfer',
    timestamp: '2024-05-12T18:21:35.000000Z',
    token: { address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', holders: '2871243' },
    token_type: 'ERC-20',
    transaction_hash: '0x431a75a0d711dfe3639aae96eb8f9facc2fd74df5aa611067f2511cc9fefc229',
    type: 'token_transfer',
  });
  expect(usdc?.total).toEqual({ decimals: '6', value: '25000000' });
});

test('a total has the form of its token standard', () => {
  const [, ape, items, unknown] = pageOf('listTransactionTokenTransfers', 'v11').map(tokenTransferRecord);

  expect(Object.keys(ape?.total ?? {})).toEqual(['token_id', 'token_instance']);
  expect(ape?.total).toMatchObject({ token_id: '7090', token_instance: { id: '7090', is_unique: true } });
  expect(items?.total).toEqual({ token_id: (2n ** 256n - 1n).toString(), decimals: null, value: '3' });
  expect(unknown).toMatchObject({ total: null, token: null, token_type: null });
});

test('an NFT transfer stays one if upstream adds an amount', () => {
  const total = { token_id: 7090, value: null, decimals: null, token_instance: null };

  expect(tokenTransferRecord(changed(1, { total })).total).toEqual({ token_id: '7090' });
  expect(tokenTransferRecord(changed(2, { total })).total).toEqual({
    token_id: '7090',
    value: null,
    decimals: null,
  });
});

test('a total of an unknown form is null', () => {
  expect(tokenTransferRecord(changed(2, { total: [{ token_id: '1', value: '2' }] })).total).toBeNull();
});

test('a confidential amount is null, and an unknown kind of transfer is classified by its sides', () => {
  expect(pageOf('listTokenTransfers', 'v11').map(tokenTransferRecord).at(-1)).toMatchObject({
    total: { decimals: '6', value: null },
    token_type: 'ERC-7984',
    type: 'token_transfer',
  });
  expect(tokenTransferRecord(changed(1, { type: 'token_wrapping' })).type).toBe('token_minting');
  expect(tokenTransferRecord(changed(2, { type: null })).type).toBe('token_burning');
  expect(tokenTransferRecord(changed(2, { type: 'token_spawning' })).type).toBe('token_spawning');
});

test('a transfer between transactions, as on Celo, carries the hash of its block', () => {
  const [between] = pageOf('listTokenTransfers', 'v11-celo').map(tokenTransferRecord);

  expect(between?.transaction_hash).toBe(between?.block_hash);
  expect(between).not.toHaveProperty('method');
});

test('a transfer without method or time omits both fields', () => {
  const bare = tokenTransferRecord(changed(0, { method: null, timestamp: null }));

  expect(bare).not.toHaveProperty('method');
  expect(bare).not.toHaveProperty('timestamp');
});

test('the block number is null before 6.8, which sends only the hash', () => {
  const [old] = pageOf('listTransactionTokenTransfers', 'v5');

  expect(tokenTransferRecord(old)).toMatchObject({
    block_number: null,
    block_hash: tokenTransferRecord(changed(0, {})).block_hash,
  });
});

test('in a transaction’s list a transfer has no block number and no standard, and is otherwise the same', () => {
  const { block_number: _number, token_type: _type, ...rest } = tokenTransferRecord(changed(1, {}));

  expect(embeddedTokenTransfer(changed(1, {}))).toEqual(rest);
});

test.each([
  ['block_hash', { block_hash: null }],
  ['log_index', { log_index: 'last' }],
  ['from', { from: null }],
  ['to.hash', { to: {} }],
  ['token.address_hash', { token: { name: 'nameless' } }],
  ['total.token_instance.id', { total: { token_id: '1', token_instance: {} } }],
])('a transfer without %s is unreadable there', (path, fields) => {
  expect(unreadable(() => tokenTransferRecord(changed(0, fields)))).toBe(path);
});
