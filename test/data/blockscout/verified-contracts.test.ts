import { expect, test } from 'vitest';
import { smartContractItem } from '#data/backends/blockscout/normalise/smart-contract.ts';
import { smartContractCounters } from '#data/backends/blockscout/normalise/statistics.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';
import { record } from '../../lab/json.ts';
import { itemsOf, withoutNewerFields } from './generations.ts';
import { serving } from './serving.ts';

test('verified contracts are the same in every generation, except for licences, which came with 6', async () => {
  const latest = itemsOf(fixtureOf('listSmartContracts', 'v12').body).slice(0, 2).map(smartContractItem);

  for (const { name, body } of fixturesOf('listSmartContracts')) {
    const items = itemsOf(body).map(smartContractItem);
    const expected = latest.map(item => (name === 'v5' ? { ...item, license_type: null } : item));
    expect(await validates('listSmartContracts', { items, next_page_params: null }), name).toEqual([]);
    expect(withoutNewerFields(items.slice(0, 2)), name).toEqual(withoutNewerFields(expected));
  }
  expect(latest).toMatchObject([
    { coin_balance: '9007199254740993000', transactions_count: 412, license_type: 'mit' },
    { coin_balance: null, transactions_count: null, license_type: null, optimization_enabled: null },
  ]);
});

test('a language outside the contract is null', () => {
  const other = itemsOf(fixtureOf('listSmartContracts', 'v12').body).at(-1);

  expect(smartContractItem(other).language).toBeNull();
});

test('counters are the same in every generation', async () => {
  for (const { name, body } of fixturesOf('getSmartContractCounters')) {
    const found = smartContractCounters(body);
    expect(await validates('getSmartContractCounters', found), name).toEqual([]);
    expect(found, name).toEqual(body);
  }
});

test('a version that reads `counters` as an address has no counters', async () => {
  await using served = await serving(() => ({ status: 422, json: { message: 'Invalid parameter(s)' } }));

  expect((await served.get('/smart-contracts/counters')).status).toBe(501);
});

test('filters are sent upstream with every page, and a position of the index is refused', async () => {
  const page = JSON.parse(fixtureOf('listSmartContracts', 'v12').text);
  await using served = await serving(() => ({ json: page }));

  const first = await served.get('/smart-contracts?q=%20tea%20&filter=solidity');
  const next = record(first.body.next_page_params);
  await served.get(`/smart-contracts?q=tea&filter=solidity&smart_contract_id=${next.smart_contract_id}`);
  await served.get('/smart-contracts?q=');
  const foreign = await served.get(`/smart-contracts?block_number=5&hash=0x${'9'.repeat(40)}`);

  expect(served.requests.map(({ query }) => query.toString())).toEqual([
    'q=tea&filter=solidity',
    'q=tea&filter=solidity&smart_contract_id=1947801',
    '',
  ]);
  expect([foreign.status, foreign.body.message]).toEqual([
    400,
    'smart_contract_id: must be given together with block_number',
  ]);
});

test.each(['v5', 'v8', 'v12'])('the keys of %s alone continue the walk where the page ended', async name => {
  const first = JSON.parse(fixtureOf('listSmartContracts', name).text);
  const key = name === 'v8' ? 'hash' : 'smart_contract_id';
  await using served = await serving(({ query }) => ({
    json: query.has(key) ? { items: first.items, next_page_params: null } : first,
  }));

  const { cursor, chain_id, ...position } = record(
    (await served.get('/smart-contracts')).body.next_page_params,
  );
  const handedBack = Object.entries(position).map(([name, value]) => `${name}=${value}`);
  const second = await served.get(`/smart-contracts?${handedBack.join('&')}`);

  expect([cursor, chain_id]).toEqual([expect.any(String), 1]);
  expect([second.status, second.body.next_page_params]).toEqual([200, null]);
  expect(served.requests.at(-1)?.query.get(key)?.toLowerCase()).toBe(
    String(first.next_page_params[key]).toLowerCase(),
  );
});
