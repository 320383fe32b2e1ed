import { expect, test } from 'vitest';
import { transactionOrNull, transactionRecord } from '#data/backends/blockscout/normalise/transaction.ts';
import { fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { itemsOf, unreadable, withoutNewerFields } from './generations.ts';

const ALICE = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const BOB = '0x28C6c06298d514Db089934071355E5743bf21d60';
const single = (name: string) => transactionRecord(fixtureOf('getTransaction', name).body);
const changed = (fields: object, name = 'v11') => ({
  ...fieldsOf(fixtureOf('getTransaction', name).body),
  ...fields,
});

test.each(fixturesOf('getTransaction'))(
  'the transaction of $name is one of the contract',
  async ({ body }) => {
    expect(await validates('getTransaction', transactionRecord(body))).toEqual([]);
  },
);

test.each(
  ['listTransactions', 'listBlockTransactions'].flatMap(id => fixturesOf(id).map(one => ({ id, ...one }))),
)('the page of $name of $id is one of the contract', async ({ id, body }) => {
  const items = itemsOf(body)
    .map(transactionOrNull)
    .filter(item => item !== null);

  expect(await validates(id, { items, next_page_params: null })).toEqual([]);
});

test.each(fixturesOf('listMainPageTransactions'))(
  'the main page of $name is one of the contract',
  async ({ body }) => {
    expect(await validates('listMainPageTransactions', listOf(body).map(transactionRecord))).toEqual([]);
  },
);

test('every generation has the same transaction, except for names and tags that came later', () => {
  const newest = single('v12');

  for (const name of ['v5', 'v6', 'v6.9', 'v7', 'v8', 'v11', 'v12']) {
    expect(withoutNewerFields(single(name)), name).toEqual(withoutNewerFields(newest));
  }
  for (const name of ['v6.9', 'v7', 'v8', 'v11']) expect(single(name), name).toEqual(newest);
});

test.each(['listTransactions', 'listMainPageTransactions', 'listBlockTransactions'])(
  'the lists of %s are the same in every generation',
  id => {
    const pages = fixturesOf(id)
      .filter(({ name }) => name !== 'v11-pending')
      .map(({ body }) =>
        itemsOf(body)
          .map(transactionOrNull)
          .filter(item => item !== null),
      );

    const newest = withoutNewerFields(pages.at(-1));
    for (const page of pages) expect(withoutNewerFields(page)).toEqual(newest);
    expect(pages[0]).toHaveLength(4);
  },
);

test('a settled transaction has its generation’s values under the contract’s names', () => {
  expect(single('v6.9')).toMatchObject({
    timestamp: '2024-05-12T18:21:35.000000Z',
    fee: { type: 'actual', value: '436797000000000' },
    gas_limit: 65000n,
    block_number: 19854321,
    status: 'ok',
    method: 'transfer',
    type: 2,
    exchange_rate: '2912.53',
    to: { hash: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', implementation_name: 'FiatTokenV2_2' },
    from: { hash: ALICE, ens_domain_name: 'vitalik.eth' },
    created_contract: null,
    transaction_burnt_fee: '388264000000000',
    max_fee_per_gas: '20000000000',
    gas_price: '9000000000',
    priority_fee: '48533000000000',
    base_fee_per_gas: '8000000000',
    max_priority_fee_per_gas: '1000000000',
    gas_used: '48533',
    value: '0',
    result: 'success',
    revert_reason: null,
    hash: '0x431a75a0d711dfe3639aae96eb8f9facc2fd74df5aa611067f2511cc9fefc229',
    token_transfers_overflow: false,
    transaction_types: ['contract_call', 'token_transfer'],
    position: 68,
    nonce: 1142n,
    has_error_in_internal_transactions: false,
    actions: [],
    decoded_input: {
      method_call: 'transfer(address to, uint256 amount)',
      method_id: 'a9059cbb',
      parameters: [
        { name: 'to', type: 'address', value: BOB },
        { name: 'amount', type: 'uint256', value: '25000000' },
      ],
    },
    confirmation_duration: [0, 12000],
    transaction_tag: null,
    proven: null,
  });
});

test('confirmations do not count the transaction’s own block, unlike upstream’s', () => {
  expect(single('v11').confirmations).toBe(105);
  expect(transactionRecord(changed({ confirmations: 1 })).confirmations).toBe(0);
  expect(transactionRecord(changed({ confirmations: 0 })).confirmations).toBe(0);
});

test('a pending transaction has no block, time, status or price, and no confirmations', () => {
  for (const name of ['v6-pending', 'v12-pending']) {
    expect(single(name), name).toMatchObject({
      timestamp: null,
      fee: { type: 'maximum', value: null },
      block_number: null,
      status: null,
      confirmations: 0,
      transaction_burnt_fee: null,
      gas_price: null,
      gas_used: null,
      result: 'pending',
      position: null,
      confirmation_duration: [],
    });
  }
});

test('where old and new names disagree, the newest is used unless it is null', () => {
  const both = {
    block: 1,
    block_number: 2,
    tx_burnt_fee: '3',
    transaction_burnt_fee: null,
    tx_types: ['coin_transfer'],
  };

  expect(transactionRecord(changed(both))).toMatchObject({
    block_number: 2,
    transaction_burnt_fee: '3',
    transaction_types: ['contract_call', 'token_transfer'],
  });
});

test('integers beyond 2^53 keep their digits, and fields of a layer 2 are left out', () => {
  const deposit = single('v11-optimism');

  expect(deposit.nonce).toBe(18446744073709551615n);
  expect(deposit.gas_limit).toBe(9007199254740993n);
  expect(Object.keys(deposit)).not.toContain('l1_fee');
  expect(Object.keys(deposit).sort()).toEqual(Object.keys(single('v12')).sort());
  expect(deposit).toMatchObject({
    type: 126,
    transaction_types: ['contract_call'],
    transaction_burnt_fee: null,
  });
});

test('amounts with an exponent are written out, and a duration is a number in any notation', () => {
  const odd = changed({
    value: '1.5E+18',
    gas_limit: 65000,
    confirmation_duration: ['2.0e3', 12000.5, 7],
    exchange_rate: 2912.53,
  });

  expect(transactionRecord(odd)).toMatchObject({
    value: '1500000000000000000',
    gas_limit: 65000n,
    confirmation_duration: [2000, 12000.5],
    exchange_rate: '2912.53',
  });
});

test('a creation has no method, and a call of an unknown method has its selector', () => {
  const [, , created, plain] = itemsOf(fixtureOf('listTransactions', 'v12').body).map(transactionRecord);

  expect(created).toMatchObject({ to: null, method: null, created_contract: { name: 'Vault' } });
  expect(plain).toMatchObject({ raw_input: '0x', method: null });
  expect(transactionRecord(changed({ method: null, raw_input: '0xA9059CBB00' })).method).toBe('0xa9059cbb');
  expect(transactionRecord(changed({ method: null, raw_input: '0xa9059c' })).method).toBeNull();
});

test('a legacy gas price has no tip, and still burns the base fee', () => {
  const [, , created] = itemsOf(fixtureOf('listTransactions', 'v5').body).map(transactionRecord);

  expect(created).toMatchObject({
    type: 0,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    priority_fee: null,
    transaction_burnt_fee: (8_000_000_000n * 1_203_344n).toString(),
  });
  const tipped = {
    type: 1,
    gas_price: '9',
    max_fee_per_gas: '9',
    max_priority_fee_per_gas: '9',
    priority_fee: '9',
  };
  expect(transactionRecord(changed(tipped))).toMatchObject({
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    priority_fee: null,
  });
  const free = { type: 0, gas_price: '0', transaction_burnt_fee: null };
  expect(transactionRecord(changed(free)).transaction_burnt_fee).toBeNull();
});

test('only the first ten token transfers are shown, with a flag that there are more', () => {
  const [transfer] = listOf(fieldsOf(changed({})).token_transfers);

  const many = transactionRecord(changed({ token_transfers: Array(11).fill(transfer) }));

  expect(many.token_transfers).toHaveLength(10);
  expect(many.token_transfers_overflow).toBe(true);
});

test('in a list, token transfers are passed on where upstream sends them, and null elsewhere', () => {
  const [listed] = itemsOf(fixtureOf('listTransactions', 'v12').body);
  const { token_transfers, token_transfers_overflow } = fieldsOf(changed({}));
  const given = { ...fieldsOf(listed), token_transfers, token_transfers_overflow };

  expect(transactionRecord(given).token_transfers).toEqual(transactionRecord(changed({})).token_transfers);
  expect(transactionRecord(given)).toMatchObject({ token_transfers: [{}], token_transfers_overflow: false });
  expect(transactionRecord(listed)).toMatchObject({ token_transfers: null, token_transfers_overflow: null });
});

test('a pending transaction has an empty list of token transfers even if upstream omits it', () => {
  const [listed] = itemsOf(fixtureOf('listTransactions', 'v11-pending').body);

  expect(transactionRecord(listed)).toMatchObject({ token_transfers: [], token_transfers_overflow: false });
});

test('actions are kept for versions that still send them', () => {
  const swap = { protocol: 'uniswap_v3', type: 'swap', data: { amount0: '1.5', symbol0: 'WETH' } };

  expect(transactionRecord(changed({ actions: [swap, { protocol: 'aave_v3' }, null] })).actions).toEqual([
    swap,
  ]);
  expect(single('v12').actions).toEqual([]);
});

test('a reward listed among a block’s transactions is skipped', () => {
  const [reward, ...others] = itemsOf(fixtureOf('listBlockTransactions', 'v6-gnosis').body);

  expect(transactionOrNull(reward)).toBeNull();
  expect(others.map(transactionOrNull)).not.toContain(null);
});

test.each([
  ['hash', { hash: null }],
  ['nonce', { nonce: null }],
  ['nonce', { nonce: -1 }],
  ['gas_limit', { gas_limit: 'much' }],
  ['value', { value: null }],
  ['from', { from: null }],
  ['to.hash', { to: { name: 'Vault' } }],
  [
    'token_transfers[0].log_index',
    {
      token_transfers: [
        { ...listOf(fieldsOf(changed({})).token_transfers).map(fieldsOf)[0], log_index: null },
      ],
    },
  ],
])('a transaction without %s is unreadable there', (path, fields) => {
  expect(unreadable(() => transactionRecord(changed(fields)))).toBe(path);
});

test('fields that upstream omits from a transaction in a block are null', async () => {
  const read = transactionRecord(
    changed({ confirmations: undefined, raw_input: null, position: -1, type: '-5' }),
  );

  expect(read).toMatchObject({ confirmations: null, raw_input: null, position: null, type: null });
  expect(await validates('getTransaction', read)).toEqual([]);
});

test('a transaction without status and result is pending a block or its trace', () => {
  const nothing = { status: null, result: null };

  expect(transactionRecord(changed({ ...nothing, block_number: null, block: null })).result).toBe('pending');
  expect(transactionRecord(changed(nothing)).result).toBe('awaiting_internal_transactions');
});

test('an entry that is neither a transaction nor a reward is unreadable, not left out', () => {
  expect(unreadable(() => transactionOrNull({}))).toBe('hash');
  expect(unreadable(() => transactionOrNull(null))).toBe('');
});
