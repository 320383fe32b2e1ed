import { expect, test } from 'vitest';
import { token } from '#data/backends/blockscout/normalise/token.ts';
import { tokenKeys } from '#data/backends/blockscout/paging/cursor-params.ts';
import { fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { record } from '../../lab/json.ts';
import type { SeenRequest } from '../../lab/scripted-upstream.ts';
import { itemsOf } from './generations.ts';
import { serving } from './serving.ts';

const paramsOf = (body: unknown) => fieldsOf(fieldsOf(body).next_page_params);

test('tokens and the end of their page are the same in every generation', async () => {
  const latest = fixtureOf('listTokens', 'v12').body;
  const keys = tokenKeys(paramsOf(latest), 2);

  for (const { name, body } of fixturesOf('listTokens')) {
    const items = itemsOf(body).map(token);
    expect(await validates('listTokens', { items, next_page_params: null }), name).toEqual([]);
    expect(items, name).toEqual(itemsOf(latest).map(token));
    expect(tokenKeys(paramsOf(body), 2), name).toEqual(keys);
  }
  expect(keys).toEqual({
    contract_address_hash: '0x2b6f8e0d4c1a39587f6e5d4c3b2a190807162534',
    fiat_value: null,
    holders_count: 3,
    is_name_null: true,
    market_cap: null,
    name: null,
    items_count: 2,
  });
});

test('search, types and order are sent upstream under upstream’s names', async () => {
  const { text } = fixtureOf('listTokens', 'v12');
  await using served = await serving(() => ({ text, type: 'application/json' }));

  await served.get('/tokens?q=tea&type=ERC-20,ERC-1155&sort=holders_count&order=asc');
  await served.get('/tokens?q=&sort=circulating_market_cap');
  await served.get('/tokens?order=asc');

  expect(served.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
    { q: 'tea', type: 'ERC-20,ERC-1155', sort: 'holders_count', order: 'asc' },
    { sort: 'circulating_market_cap', order: 'desc' },
    {},
  ]);
});

test('for a version up to 7 the order by holders is sent under its former name, from the second page on at once', async () => {
  const { text } = fixtureOf('listTokens', 'v6.9');
  await using served = await serving(() => ({ text, type: 'application/json' }));

  const first = await served.get('/tokens?sort=holders_count');
  const { cursor } = record(first.body.next_page_params);
  await served.get(`/tokens?sort=holders_count&cursor=${cursor}`);

  expect(served.requests.map(({ query }) => [query.get('sort'), query.get('holder_count')])).toEqual([
    ['holders_count', null],
    ['holder_count', null],
    ['holder_count', '3'],
  ]);
});

const OLD = ['contract_address_hash', 'fiat_value', 'holder_count', 'is_name_null', 'market_cap', 'name'];
const NEW = OLD.map(name => (name === 'holder_count' ? 'holders_count' : name));

test.each([
  ['v6.9', OLD, 'holder_count'],
  ['v8', [...OLD, 'holders_count'], 'holders_count'],
  ['v12', NEW, 'holders_count'],
])('the keys of %s alone lead to the second page in its order', async (name, keys, sort) => {
  const first = JSON.parse(fixtureOf('listTokens', name).text);
  // Upstream starts over when a key is missing, and since 9.3 refuses an unknown key.
  const upstream = ({ query }: SeenRequest) => {
    if (name === 'v12' && query.has('holder_count')) return { status: 422, json: { errors: [] } };
    const isSecond = keys.every(key => query.has(key)) && query.get('sort') === sort;
    return { json: isSecond ? { items: first.items.slice(1), next_page_params: null } : first };
  };
  await using served = await serving(upstream);

  const { cursor, chain_id, ...position } = record(
    (await served.get('/tokens?sort=holders_count')).body.next_page_params,
  );
  const handedBack = Object.entries(position).map(([key, value]) => `&${key}=${value}`);
  const second = await served.get(`/tokens?sort=holders_count${handedBack.join('')}`);

  expect([cursor, chain_id]).toEqual([expect.any(String), 1]);
  expect([second.status, second.body.next_page_params]).toEqual([200, null]);
  expect(second.body.items).toHaveLength(first.items.length - 1);
});

test.each(NEW)('a position in the list of tokens without %s is a 400 that names it', async lost => {
  const { text } = fixtureOf('listTokens', 'v12');
  await using served = await serving(() => ({ text, type: 'application/json' }));
  const { next_page_params } = JSON.parse(text);

  const query = NEW.filter(key => key !== lost).map(key => `${key}=${next_page_params[key]}`);
  const { status, body } = await served.get(`/tokens?${query.join('&')}`);

  expect([status, body.message]).toEqual([400, expect.stringMatching(`^${lost}: must be given together`)]);
});

test.each([
  ['is empty', ''],
  ['has 2048 characters', 'x'.repeat(2048)],
])('a token whose name %s does not end the walk', async (_what, name) => {
  const first = JSON.parse(fixtureOf('listTokens', 'v12').text);
  const next_page_params = { ...first.next_page_params, name, is_name_null: false };
  await using served = await serving(({ query }) => ({
    json: { items: first.items, next_page_params: query.has('name') ? null : next_page_params },
  }));

  const page = await served.get('/tokens');
  const position = new URLSearchParams();
  for (const [key, value] of Object.entries(record(page.body.next_page_params))) {
    position.set(key, String(value));
  }
  const byKeys = new URLSearchParams(position);
  byKeys.delete('cursor');
  const answers = [await served.get(`/tokens?${position}`), await served.get(`/tokens?${byKeys}`)];

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(served.requests.slice(1).map(({ query }) => query.get('name'))).toEqual([name, name]);
});
