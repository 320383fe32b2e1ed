import { expect, test } from 'vitest';
import { fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf } from '../../support/blockscout-fixtures.ts';
import { serving } from './serving.ts';

const ADDRESS = `0x${'1'.repeat(40)}`;
const FURTHER = {
  token_contract_address_hash: `0x${'2'.repeat(40)}`,
  token_id: '1',
  token_type: 'ERC-721',
  items_count: 50,
};
const [TRANSACTION] = listOf(fieldsOf(JSON.parse(fixtureOf('listTransactions', 'v12').text)).items);

test('an empty page with a next page from a filtering upstream is passed on as such', async () => {
  await using served = await serving(() => ({ json: { items: [], next_page_params: FURTHER } }));

  const { status, body } = await served.get(`/addresses/${ADDRESS}/nft?type=ERC-721`);

  expect({ status, items: body.items }).toEqual({ status: 200, items: [] });
  expect(body.next_page_params).toMatchObject({ token_id: '1', cursor: expect.any(String) });
  expect(served.requests.filter(({ path }) => path.endsWith('/nft'))).toHaveLength(1);
});

/** Endless pages of which only the first item calls `approve`. */
function endless(first: 'refuses' | 'ignores', latencyMs = 0) {
  let left = 100;
  return ({ query }: { query: URLSearchParams }) => {
    if (first === 'refuses' && query.has('method'))
      return { status: 422, json: { message: 'Unexpected field' } };
    left -= 1;
    const method = left === 99 && latencyMs > 0 ? 'approve' : 'other';
    const item = { ...fieldsOf(TRANSACTION), method };
    return { json: { items: [item], next_page_params: { block_number: left, index: 1 } }, latencyMs };
  };
}

test.each(['refuses', 'ignores'] as const)(
  'finding nothing in ten pages of an upstream that %s the filter is a 501',
  async what => {
    await using served = await serving(endless(what));

    expect((await served.get('/transactions?method=approve')).status).toBe(501);
  },
);

test('reading on stops at the deadline: the matches so far are answered, and the cursor leads to the rest', async () => {
  await using served = await serving(endless('ignores', 250), {
    fallback: { timeoutMs: 1000, staggerMs: 100 },
  });

  const { status, body } = await served.get('/transactions?method=approve');

  expect({ status, methods: listOf(body.items).map(item => fieldsOf(item).method) }).toEqual({
    status: 200,
    methods: ['approve'],
  });
  expect(body.next_page_params).toMatchObject({ cursor: expect.any(String) });
});
