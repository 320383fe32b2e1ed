import { expect, test } from 'vitest';
import { list, record } from '../../lab/json.ts';
import type { Behaviour, SeenRequest } from '../../lab/scripted-upstream.ts';
import { fixtureOf } from './fixtures.ts';
import { about, failureOf, openedThirdweb, queryFor, sentTo } from './opened-thirdweb.ts';

const [row] = list(record(JSON.parse(fixtureOf('queryBlocks', '2025-10').text)).data).map(record);
const rowsOf = (chainId: number, count: number) =>
  Array.from({ length: count }, () => ({ ...row, chain_id: chainId }));

interface Page {
  readonly data: readonly unknown[];
  readonly meta?: object;
}

/** A page, and the reply to a count request. */
function paged(page: Page, counted: Behaviour = { status: 500, json: { error: 'nobody asked' } }) {
  return ({ query }: SeenRequest): Behaviour => (query.has('aggregate') ? counted : { json: page });
}

const counts = (byChain: Readonly<Record<string, number | string>>): Behaviour => ({
  json: { aggregations: Object.entries(byChain).map(([id, n]) => ({ chain_id: id, n })) },
});

async function totals(
  respond: (request: SeenRequest) => Behaviour,
  query: { limit?: number; page?: number } = {},
  chainIds: readonly number[] = [1],
) {
  await using to = await openedThirdweb(respond);
  const { records, ...rest } = await to.insights.records(queryFor('blocks', query), about(...chainIds));
  return { ...rest, rows: records.length, requests: to.requests.length };
}

test('a page that is not full determines the total', async () => {
  const respond = paged({ data: rowsOf(1, 3), meta: { total_items: 3, total_pages: 0 } });

  expect(await totals(respond, { limit: 5, page: 2 })).toEqual({
    total: 13,
    isCapped: false,
    pages: 3,
    rows: 3,
    requests: 1,
  });
});

test('a full page whose total equals its number of rows is counted with the same filters', async () => {
  await using to = await openedThirdweb(
    paged({ data: rowsOf(1, 2), meta: { total_items: 2, total_pages: 0 } }, counts({ 1: '37' })),
  );
  const filters = [{ field: 'gas_used', operator: 'gt', value: 5n }] as const;

  const answer = await to.insights.records(queryFor('blocks', { filters, limit: 2 }), about(1));

  expect(answer).toMatchObject({ total: 37, isCapped: false, pages: 19 });
  expect(sentTo(to.requests[1])).toEqual([
    'chain_id=1',
    'filter_gas_used_gt=5',
    'aggregate=count() as n',
    'group_by=chain_id',
    'limit=500',
    'page=0',
  ]);
});

test('a total larger than the page is trusted', async () => {
  const respond = paged({ data: rowsOf(1, 2), meta: { total_items: 41, total_pages: 21 } });

  expect(await totals(respond, { limit: 2 })).toMatchObject({
    total: 41,
    isCapped: false,
    pages: 21,
    requests: 1,
  });
});

test('a total that upstream has capped stays capped', async () => {
  const meta = { total_items: 10_000, total_items_capped: true };

  expect(await totals(paged({ data: rowsOf(1, 2), meta }), { limit: 2 })).toMatchObject({
    total: 10_000,
    isCapped: true,
    pages: 5000,
  });
});

test('of several chains only those with a full page are counted, up to 10,000 each', async () => {
  await using to = await openedThirdweb(
    paged({ data: [...rowsOf(1, 2), ...rowsOf(10, 1), ...rowsOf(8453, 2)] }, counts({ 1: 25_000, 8453: 7 })),
  );

  const answer = await to.insights.records(queryFor('blocks', { limit: 2 }), about(1, 10, 8453));

  expect(answer).toMatchObject({ total: 10_008, isCapped: true, pages: 5000 });
  expect(to.requests[1]?.query.getAll('chain_id')).toEqual(['1', '8453']);
});

test('counts may also come as one object per chain', async () => {
  const { text } = fixtureOf('queryBlocks', '2025-07-aggregations');
  const respond = paged({ data: [...rowsOf(1, 1), ...rowsOf(8453, 1)] }, { text, type: 'application/json' });

  expect(await totals(respond, { limit: 1 }, [1, 8453])).toMatchObject({
    total: 154,
    isCapped: false,
    pages: 120,
  });
});

test('where upstream cannot count, the total is the proven number and counts as capped', async () => {
  const respond = paged(
    { data: rowsOf(1, 2) },
    { status: 500, json: { error: 'An unexpected error occurred.' } },
  );

  expect(await totals(respond, { limit: 2, page: 3 })).toMatchObject({ total: 8, isCapped: true, pages: 4 });
});

test('a page beyond the last one is empty and has the true total', async () => {
  expect(await totals(paged({ data: [] }, counts({ 1: 7 })), { limit: 5, page: 9 })).toEqual({
    total: 7,
    isCapped: false,
    pages: 2,
    rows: 0,
    requests: 2,
  });
});

test('a limit of 0 is sent as 1 and returns no rows, with the total', async () => {
  await using to = await openedThirdweb(paged({ data: rowsOf(1, 1) }, counts({ 1: 7 })));

  const answer = await to.insights.records(queryFor('blocks', { limit: 0, page: 3 }), about(1));

  expect(answer).toEqual({ records: [], total: 7, isCapped: false, pages: 0 });
  expect(sentTo(to.requests[0])).toEqual(expect.arrayContaining(['limit=1', 'page=0']));
});

test('an empty chain has a total of 0 without a count request', async () => {
  expect(await totals(paged({ data: [] }), { limit: 0 })).toMatchObject({ total: 0, pages: 0, requests: 1 });
});

test('an answer that omits one of several chains is requested per chain', async () => {
  const meta = { chain_ids: [1] };
  await using to = await openedThirdweb(paged({ data: rowsOf(1, 1), meta }));

  const several = to.insights.records(queryFor('blocks'), about(1, 10));

  expect(await failureOf(several)).toMatchObject({ kind: 'unsupported', reason: 'incomplete' });
  expect(await to.insights.records(queryFor('blocks'), about(1))).toMatchObject({ total: 1 });
});

test('an answer in which the only chain failed is an outage', async () => {
  const meta = { chain_ids: [], failed_chain_ids: [1] };
  await using to = await openedThirdweb(paged({ data: [], meta }));

  const failure = await failureOf(to.insights.records(queryFor('blocks'), about(1)));

  expect(failure).toMatchObject({ kind: 'unavailable', reason: 'incomplete' });
});
