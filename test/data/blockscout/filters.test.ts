import { expect, test } from 'vitest';
import { fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf } from '../../lab/blockscout-fixtures.ts';
import type { SeenRequest } from '../../lab/scripted-upstream.ts';
import { manualClock } from '../../support/manual-clock.ts';
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

/** Endless pages of transactions, none of which calls `approve` except those in `more`, on the first page. */
function endless(first: 'refuses' | 'ignores', more: readonly object[] = []) {
  let left = 100;
  return ({ query }: { query: URLSearchParams }) => {
    if (first === 'refuses' && query.has('method'))
      return { status: 422, json: { message: 'Unexpected field' } };
    left -= 1;
    const item = { ...fieldsOf(TRANSACTION), method: 'other' };
    const items = left === 99 ? [...more, item] : [item];
    return { json: { items, next_page_params: { block_number: left, index: 1 } } };
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
  const clock = manualClock();
  const pages = endless('ignores', [{ ...fieldsOf(TRANSACTION), method: 'approve' }]);
  const slow = (request: SeenRequest) => {
    if (request.path === '/transactions') clock.advance(2_500);
    return pages(request);
  };
  await using served = await serving(slow, { clock, fallback: { timeoutMs: 10_000, staggerMs: 100 } });

  const { status, body } = await served.get('/transactions?method=approve');

  expect({ status, methods: listOf(body.items).map(item => fieldsOf(item).method) }).toEqual({
    status: 200,
    methods: ['approve'],
  });
  expect(body.next_page_params).toMatchObject({ block_number: 97, cursor: expect.any(String) });
  expect(served.requests.filter(({ path }) => path === '/transactions')).toHaveLength(3);
});
