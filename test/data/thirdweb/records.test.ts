import { describe, expect, test } from 'vitest';
import { recordValues } from '#data/backends/port/insights-backend.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { list, record } from '../../lab/json.ts';
import { fixtureOf, fixturesOf, violationsOf } from './fixtures.ts';
import { about, always, failureOf, openedThirdweb, queryFor, sentTo } from './opened-thirdweb.ts';

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const SENDER = '0x28c6c06298d514db089934071355e5743bf21d60';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const hash = (byte: string) => `0x${byte.repeat(32)}`;

const ENTITIES: readonly (readonly [operation: string, entity: Entity])[] = [
  ['queryBlocks', 'blocks'],
  ['queryTransactions', 'transactions'],
  ['queryWalletTransactions', 'transactions'],
  ['queryEvents', 'events'],
];

async function read<E extends Entity>(operation: string, entity: E, name: string) {
  await using to = await openedThirdweb(always(fixtureOf(operation, name)));
  const { records } = await to.insights.records(queryFor(entity, { decode: true }), about(1));
  return recordValues(records);
}

/** An earlier generation has the same record in another form. */
async function isReadAlike(operation: string, entity: Entity, name: string): Promise<void> {
  expect(await read(operation, entity, name)).toEqual(await read(operation, entity, '2025-10'));
}

test.each(
  ENTITIES.flatMap(([operation, entity]) =>
    fixturesOf(operation).map(({ name }) => ({ operation, entity, name })),
  ),
)('$operation of $name is read as records of the contract', async ({ operation, entity, name }) => {
  const data = await read(operation, entity, name);

  const meta = { chain_ids: [1], page: 0, limit_per_chain: 20, total_items: 0, total_pages: 0 };
  expect(await violationsOf(operation, { data, meta })).toEqual([]);
  expect(data.length > 0).toBe(
    !/nothing|aggregations/.test(name) && !(operation === 'queryWalletTransactions' && name === '2025-03'),
  );
});

test('rows beyond the limit are cut off if the service ignores it', async () => {
  const { data } = record(JSON.parse(fixtureOf('queryBlocks', '2025-10').text));
  const rows = Array.from({ length: 5 }, () => list(data)[0]);
  await using to = await openedThirdweb(() => ({ json: { data: rows } }));

  const { records } = await to.insights.records(queryFor('blocks', { limit: 2 }), about(1));

  expect(records).toHaveLength(2);
});

describe('blocks', () => {
  test('a block has every field of the contract with upstream’s value', async () => {
    expect(await read('queryBlocks', 'blocks', '2025-10')).toEqual([
      {
        chain_id: 1,
        block_number: 22431084,
        block_hash: hash('a1'),
        parent_hash: hash('b2'),
        block_timestamp: 1746448211,
        nonce: '0x0000000000000000',
        sha3_uncles: hash('c3'),
        mix_hash: hash('d4'),
        miner: '0x4838b106fce9647bdf1e7877bf73ce8b0bad5f97',
        state_root: hash('e5'),
        transactions_root: hash('f6'),
        receipts_root: hash('17'),
        logs_bloom: `0x${'00'.repeat(256)}`,
        size: 84231,
        extra_data: '0x546974616e2028746974616e6275696c6465722e78797a29',
        difficulty: '0',
        total_difficulty: '58750003716598352816469',
        transaction_count: 184,
        gas_limit: 36000000,
        gas_used: 14235114,
        withdrawals_root: hash('28'),
        base_fee_per_gas: 1842013551,
      },
    ]);
  });

  test.each(['2025-03', '2025-07'])('the block of %s is the same under other types and names', name =>
    isReadAlike('queryBlocks', 'blocks', name),
  );

  test('fields that an old block lacks are null, and its empty extra data stays empty', async () => {
    expect(await read('queryBlocks', 'blocks', '2025-10-old-block')).toMatchObject([
      {
        nonce: '0x539bd4979fef1ec4',
        extra_data: '0x',
        difficulty: '62413376722602',
        total_difficulty: null,
        withdrawals_root: null,
        base_fee_per_gas: null,
      },
    ]);
  });

  test('null is an empty list', async () => {
    expect(await read('queryBlocks', 'blocks', '2025-03-nothing')).toEqual([]);
  });
});

describe('transactions', () => {
  test('a transaction has its amounts as strings, and omits what is null upstream', async () => {
    const [transaction] = await read('queryTransactions', 'transactions', '2025-10');

    expect(transaction).toEqual({
      chain_id: '1',
      block_number: 22431084,
      block_hash: hash('a1'),
      block_timestamp: 1746448211,
      hash: hash('4a'),
      nonce: 41n,
      transaction_index: 12,
      from_address: SENDER,
      to_address: USDC,
      value: '1234567890123456789012',
      gas_price: '3000000007',
      gas: 65000n,
      function_selector: '0xa9059cbb',
      data: `0xa9059cbb${'0'.repeat(24)}${'ab'.repeat(20)}${'0'.repeat(59)}f4240`,
      max_fee_per_gas: '5000000000',
      max_priority_fee_per_gas: '1000000000',
      transaction_type: 2,
      r: '68450829451286789212380312403472383298710412342310412341234123412341234123411',
      s: '12345678901234567890123456789012345678901234567890123456789012345678901234567',
      v: '1',
      gas_used: 48537,
      cumulative_gas_used: 1523114,
      effective_gas_price: '3000000007',
      status: 1,
      decoded: {
        name: 'transfer',
        signature: 'transfer(address,uint256)',
        inputs: { to: `0x${'ab'.repeat(20)}`, amount: '1000000' },
      },
    });
  });

  test.each(['2025-03', '2025-07'])(
    'the transaction of %s is the same: bare numbers, hex and `decodedData` lose nothing',
    name => isReadAlike('queryTransactions', 'transactions', name),
  );

  test('a contract creation has no receiver, no fee limits, no blobs and no empty `decoded`', async () => {
    const [creation] = await read('queryTransactions', 'transactions', '2025-10-kinds');

    expect(creation).toMatchObject({
      to_address: null,
      contract_address: `0x${'cd'.repeat(20)}`,
      max_fee_per_gas: null,
      max_priority_fee_per_gas: null,
      function_selector: '0x',
      status: 0,
    });
    for (const absent of ['blob_gas_used', 'blob_gas_price', 'access_list_json', 'decoded', 'logs_bloom']) {
      expect(creation).not.toHaveProperty(absent);
    }
  });

  test('64-bit numbers keep all digits, and data without a selector has none', async () => {
    const [, blob] = await read('queryTransactions', 'transactions', '2025-10-kinds');

    expect(blob).toMatchObject({
      nonce: 18_446_744_073_709_551_614n,
      gas: 18_446_744_073_709_551_615n,
      function_selector: '0x',
      blob_gas_used: 131072,
      blob_gas_price: '1',
      access_list_json: `[{"address":"0x${'ab'.repeat(20)}","storageKeys":[]}]`,
    });
  });

  test('rows are decoded only on request', async () => {
    await using to = await openedThirdweb(always(fixtureOf('queryTransactions', '2025-10')));

    const { records } = await to.insights.records(queryFor('transactions'), about(1));

    expect(records[0]).not.toHaveProperty('decoded');
    expect(to.requests[0]?.query.has('decode')).toBe(false);
  });
});

describe('events', () => {
  test.each(['2025-03', '2025-07', '2025-10'])('an event of %s is complete and decoded', async name => {
    expect(await read('queryEvents', 'events', name)).toEqual([
      {
        chain_id: '1',
        block_number: 22431084,
        block_hash: hash('a1'),
        block_timestamp: 1746448211,
        transaction_hash: hash('4a'),
        transaction_index: 12,
        log_index: 68,
        address: USDC,
        data: `0x8${'0'.repeat(62)}7`,
        topics: [TRANSFER, `0x${'0'.repeat(24)}${SENDER.slice(2)}`, `0x${'0'.repeat(24)}${'ab'.repeat(20)}`],
        decoded: {
          name: 'Transfer',
          signature: 'Transfer(address,address,uint256)',
          indexed_params: { from: SENDER, to: `0x${'ab'.repeat(20)}` },
          non_indexed_params: { value: String(2n ** 255n + 7n) },
        },
      },
    ]);
  });

  test('integers within tuples become strings, strings stay unchanged, and a failed decoding omits `decoded`', async () => {
    const [tuple, failed, unsigned] = await read('queryEvents', 'events', '2025-10-decoded');

    expect(tuple?.decoded?.non_indexed_params).toEqual({
      order: {
        price: '123456789012345678901234567890',
        fees: ['1', '340282366920938463463374607431768211455'],
        note: '0xABC is not hex',
      },
      done: true,
    });
    expect(failed).toMatchObject({ topics: [], data: '0x' });
    expect(failed).not.toHaveProperty('decoded');
    expect(unsigned).not.toHaveProperty('decoded');
  });
});

describe('a request', () => {
  test('has chains, exact filters, order and page under upstream’s names', async () => {
    await using to = await openedThirdweb(() => ({ json: { data: [] } }));
    const filters = [
      { field: 'block_hash', operator: 'eq', value: hash('ab') },
      { field: 'block_number', operator: 'gte', value: 2n ** 255n },
    ] as const;
    const sort = { field: 'block_hash', order: 'asc' } as const;

    await to.insights.records(queryFor('blocks', { filters, sort, limit: 7, decode: true }), about(1, 8453));

    expect(to.requests[0]?.path).toBe('/blocks');
    expect(sentTo(to.requests[0])).toEqual([
      'chain_id=1',
      'chain_id=8453',
      `filter_hash=${hash('ab')}`,
      `filter_block_number_gte=${2n ** 255n}`,
      'sort_by=hash',
      'sort_order=asc',
      'limit=7',
      'page=0',
      'decode=true',
    ]);
  });

  test('has names as given', async () => {
    await using to = await openedThirdweb(() => ({ json: { data: [] } }));
    const filters = [{ field: 'to_address', operator: 'eq', value: 'vitalik.eth' }] as const;

    await to.insights.records(queryFor('transactions', { filters }), about(1));
    await to.insights.records(queryFor('transactions', { wallet: 'alice.eth' }), about(1));

    expect(to.requests.map(({ path }) => path)).toEqual(['/transactions', '/wallets/alice.eth/transactions']);
    expect(to.requests[0]?.query.get('filter_to_address')).toBe('vitalik.eth');
  });

  test('has a contract without a signature in its path, and a separate path for all events', async () => {
    await using to = await openedThirdweb(() => ({ json: { data: [] } }));
    const filters = [
      { field: 'topic_0', operator: 'eq', value: TRANSFER },
      { field: 'address', operator: 'eq', value: USDC },
    ] as const;

    await to.insights.records(queryFor('events', { contract: USDC, filters: filters.slice(0, 1) }), about(1));
    await to.insights.records(queryFor('events', { filters }), about(1));

    const asked = ['filter_topic_0', 'filter_address'];
    expect(to.requests.map(({ path, query }) => [path, ...asked.map(name => query.get(name))])).toEqual([
      [`/events/${USDC}`, TRANSFER, null],
      ['/events', TRANSFER, USDC],
    ]);
  });

  test('has the called contract in its path, and as a filter for a service without that path', async () => {
    await using to = await openedThirdweb(({ path }) =>
      path === '/transactions' ? { json: { data: [] } } : { status: 404, text: '' },
    );

    await to.insights.records(queryFor('transactions', { contract: USDC }), about(1));

    expect(to.requests.map(({ path, query }) => [path, query.get('filter_to_address')])).toEqual([
      [`/transactions/${USDC}`, null],
      ['/transactions', USDC],
    ]);
  });

  test('has the signature in its path', async () => {
    await using to = await openedThirdweb(() => ({ json: { data: [] } }));
    const signature = 'event Transfer(address indexed from, address indexed to, uint256 value)';

    await to.insights.records(
      queryFor('events', { contract: USDC, event: { topic0: TRANSFER, signature } }),
      about(1),
    );

    const path = '/Transfer(address%20indexed%20from%2C%20address%20indexed%20to%2C%20uint256%20value)';
    expect(to.requests.map(request => request.path)).toEqual([`/events/${USDC}${path}`]);
  });

  test('has a topic as a filter, and in the path for a service without that filter’s path', async () => {
    await using to = await openedThirdweb(({ path }) =>
      path.endsWith(TRANSFER) ? { json: { data: [] } } : { status: 404, text: '' },
    );

    await to.insights.records(queryFor('events', { contract: USDC, event: { topic0: TRANSFER } }), about(1));

    expect(to.requests.map(({ path, query }) => [path, query.get('filter_topic_0')])).toEqual([
      [`/events/${USDC}`, TRANSFER],
      [`/events/${USDC}/${TRANSFER}`, null],
    ]);
  });
});

test('a service without the path of topics does not make a name unknown', async () => {
  await using to = await openedThirdweb(({ path }) =>
    path.endsWith(TRANSFER) ? { json: { data: [] } } : { status: 404, json: { error: 'no such path' } },
  );
  const selected = { contract: 'usdc.eth', event: { topic0: TRANSFER } };

  expect(await to.insights.records(queryFor('events', selected), about(1))).toMatchObject({ total: 0 });
});

test('rows of other chains are left out', async () => {
  const { data } = record(JSON.parse(fixtureOf('queryTransactions', '2025-10').text));
  await using to = await openedThirdweb(() => ({ json: { data } }));

  const answer = await to.insights.records(queryFor('transactions'), about(10));

  expect(answer).toEqual({ records: [], total: 0, isCapped: false, pages: 0 });
});

test('an unreadable record is an outage, and the log names the path', async () => {
  await using to = await openedThirdweb(() => ({ json: { data: [{ chain_id: 1, block_number: 5 }] } }));

  const failure = await failureOf(to.insights.records(queryFor('blocks'), about(1)));

  expect(failure).toMatchObject({ kind: 'unavailable', reason: 'unreadable' });
  expect(to.lines()).toMatchObject([
    { operation: 'queryBlocks', chainId: [1], backend: 'insight-1', path: 'data[0].block_hash' },
  ]);
});
