import { expect, test } from 'vitest';
import { address } from '#data/backends/blockscout/normalise/address.ts';
import { tokenHolder } from '#data/backends/blockscout/normalise/holdings.ts';
import { tokenCounters } from '#data/backends/blockscout/normalise/statistics.ts';
import { token } from '#data/backends/blockscout/normalise/token.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { record } from '../../lab/json.ts';
import { itemsOf, withoutNewerFields } from './generations.ts';
import { serving } from './serving.ts';

const ADDRESS = `0x${'9'.repeat(40)}`;

test('a token and its counters are the same in every generation', async () => {
  for (const [operation, read] of [
    ['getToken', token],
    ['getTokenCounters', tokenCounters],
  ] as const) {
    for (const { name, body } of fixturesOf(operation)) {
      expect(await validates(operation, read(body)), name).toEqual([]);
      expect({ ...read(body), icon_url: null, circulating_market_cap: null }, name).toEqual({
        ...read(fixtureOf(operation, 'v12').body),
        icon_url: null,
        circulating_market_cap: null,
      });
    }
  }
});

test('holders are the same in every generation, and a balance that was never fetched is null', async () => {
  const latest = itemsOf(fixtureOf('listTokenHolders', 'v12').body).map(tokenHolder);

  for (const { name, body } of fixturesOf('listTokenHolders')) {
    const items = itemsOf(body).map(tokenHolder);
    expect(await validates('listTokenHolders', { items, next_page_params: null }), name).toEqual([]);
    expect(withoutNewerFields(items), name).toEqual(withoutNewerFields(latest));
  }
  expect(latest.map(({ value, token_id: id }) => [value, id])).toEqual([
    ['9007199254740993000', null],
    ['12', '9007199254740993'],
    [null, null],
  ]);
});

test('a token or a transfer of another token than the requested one is an outage', async () => {
  const transfers = JSON.parse(fixtureOf('listTransfersOfToken', 'v12').text);
  const found = JSON.parse(fixtureOf('getToken', 'v12').text);
  await using served = await serving(({ path }) => ({
    json: path.includes('transfers') ? transfers : found,
  }));

  const one = await served.get(`/tokens/${ADDRESS}`);
  const list = await served.get(`/tokens/${ADDRESS}/transfers`);

  expect([one.status, list.status]).toEqual([502, 502]);
});

test.each([
  ['reputation of 9.1', { reputation: 'scam' }],
  ['is_scam of 6.9', { is_scam: true }],
])('a scam is marked by its %s, on a token as on an address', (_name, mark) => {
  const { body } = fixtureOf('getToken', 'v12');
  const marked = token({ ...record(body), ...mark });
  const owner = address({ hash: marked.address, ...mark });

  expect([marked.reputation, owner.reputation]).toEqual(['scam', 'scam']);
  expect(token(body)).not.toHaveProperty('reputation');
});
