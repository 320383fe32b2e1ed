import { expect, test } from 'vitest';
import {
  indexingStatus,
  marketChart,
  stats,
  transactionsChart,
} from '#data/backends/blockscout/normalise/statistics.ts';
import { fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf, fixturesOf, validates } from '../../lab/blockscout-fixtures.ts';

const READERS = {
  getStats: stats,
  getTransactionsChart: transactionsChart,
  getMarketChart: marketChart,
  getIndexingStatus: indexingStatus,
} as const;

const upstream = (operationId: string, name: string) => fieldsOf(fixtureOf(operationId, name).body);
const latestStats = () => upstream('getStats', 'v11');

test.each(Object.entries(READERS))(
  '%s of every generation is a record of the contract',
  async (operationId, read) => {
    const fixtures = fixturesOf(operationId);

    expect(fixtures.length).toBeGreaterThan(3);
    for (const { name, body } of fixtures) expect(await validates(operationId, read(body)), name).toEqual([]);
  },
);

test('statistics have every field of the contract with upstream’s value', () => {
  expect(stats(latestStats())).toEqual({
    total_blocks: '19854322',
    total_addresses: '340512345',
    total_transactions: '2356789012',
    average_block_time: 12000,
    coin_price: '2931.14',
    total_gas_used: '0',
    transactions_today: '1180342',
    gas_used_today: '108415209312',
    gas_prices: { slow: 4.1, average: 4.4, fast: 5.2 },
    static_gas_price: null,
    market_cap: '352101234567.89',
    network_utilization_percentage: 51.2,
    tvl: '52123456789.5',
    coin_image: 'https://assets.example.org/eth.png',
    coin_price_change_percentage: -1.4,
    gas_price_updated_at: '2024-05-12T18:21:36.402134Z',
    gas_prices_update_in: 27000,
  });
});

test('statistics are the same in all generations, except for the optional fields that 5.1 lacks', () => {
  const latest = stats(latestStats());

  for (const name of ['v6', 'v6.9', 'v8']) expect(stats(upstream('getStats', name)), name).toEqual(latest);
  const oldest = stats(upstream('getStats', 'v5'));
  expect(latest).toMatchObject(oldest);
  expect(Object.keys(oldest)).toHaveLength(12);
});

test('gas prices are numbers, whether upstream sends numbers or objects', () => {
  expect(upstream('getStats', 'v8').gas_prices).toMatchObject({ slow: { price: 4.1 } });
  expect(stats(upstream('getStats', 'v8')).gas_prices).toEqual({ slow: 4.1, average: 4.4, fast: 5.2 });
});

test('a single known gas price is kept, and without any there is no record', () => {
  const celo = stats(upstream('getStats', 'v12-celo'));

  expect(celo.gas_prices).toEqual({ slow: null, average: 25.1, fast: null });
  expect(stats(upstream('getStats', 'v11-optimism')).gas_prices).toBeNull();
  expect(stats({ ...latestStats(), gas_prices: null }).gas_prices).toBeNull();
});

test('a chain without prices and complete days has nulls where upstream has zeros', () => {
  const unknown = upstream('getStats', 'v11-optimism');

  expect(unknown).toMatchObject({ market_cap: '0', transactions_today: '0', gas_used_today: 0 });
  expect(stats(unknown)).toEqual({
    total_blocks: '19854322',
    total_addresses: '340512345',
    total_transactions: '2356789012',
    average_block_time: 2000,
    coin_price: null,
    total_gas_used: '0',
    transactions_today: null,
    gas_used_today: null,
    gas_prices: null,
    static_gas_price: null,
    market_cap: null,
    network_utilization_percentage: 0.042,
  });
});

test('a day without transactions has two zeros, which upstream writes as strings', () => {
  const quiet = { ...latestStats(), transactions_today: '0', gas_used_today: '0' };

  expect(stats(quiet)).toMatchObject({ transactions_today: '0', gas_used_today: '0' });
});

test('numbers with exponents and numbers in strings become numbers', () => {
  expect(fixtureOf('getStats', 'v5').text).toContain('"average_block_time":12.0e3');
  expect(stats(upstream('getStats', 'v5')).average_block_time).toBe(12000);
  expect(stats({ ...latestStats(), network_utilization_percentage: '51.2' })).toEqual(stats(latestStats()));
});

test('a gas price set by the operators is kept, and an empty one is null', () => {
  expect(stats({ ...latestStats(), static_gas_price: '0.1' }).static_gas_price).toBe('0.1');
  expect(stats({ ...latestStats(), static_gas_price: '' }).static_gas_price).toBeNull();
});

test('a second coin is present where the chain has one', () => {
  expect(stats(upstream('getStats', 'v12-celo'))).toMatchObject({
    secondary_coin_price: '0.9998',
    secondary_coin_image: 'https://assets.example.org/second.png',
  });
  expect(stats(latestStats())).not.toHaveProperty('secondary_coin_price');
});

test('a block time or gas amount that upstream omits is null, and nothing is negative', async () => {
  const { average_block_time: _time, total_gas_used: _gas, ...others } = latestStats();
  const read = stats({ ...others, gas_prices_update_in: -5 });

  expect(read).toMatchObject({ average_block_time: null, total_gas_used: null });
  expect(read).not.toHaveProperty('gas_prices_update_in');
  expect(stats({ ...others, average_block_time: -1 }).average_block_time).toBeNull();
  expect(await validates('getStats', read)).toEqual([]);
});

test.each(['total_blocks', 'total_addresses', 'total_transactions'])(
  'statistics without %s are unreadable',
  name => {
    expect(() => stats({ ...latestStats(), [name]: null })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: name }),
    );
  },
);

test('the transactions of a day are the same under each former name of the count', () => {
  for (const { name, body } of fixturesOf('getTransactionsChart')) {
    expect(transactionsChart(body), name).toEqual({
      chart_data: [
        { date: '2024-05-12', transaction_count: 1180342 },
        { date: '2024-05-11', transaction_count: 1093211 },
        { date: '2024-05-10', transaction_count: null },
      ],
    });
  }
});

test('the market of a day is the same in all generations, except for what 5.1 lacks', () => {
  const latest = {
    available_supply: '120124334.91',
    chart_data: [
      { date: '2024-05-12', closing_price: '2931.14', market_cap: '352101234567.89', tvl: '52123456789.5' },
      { date: '2024-05-11', closing_price: '2912.5', market_cap: '349862001234.1', tvl: '51800000000' },
      { date: '2024-05-10', closing_price: null, market_cap: null },
    ],
  };

  expect(marketChart(upstream('getMarketChart', 'v11'))).toEqual(latest);
  expect(marketChart(upstream('getMarketChart', 'v6.9'))).toEqual(latest);
  expect(marketChart(upstream('getMarketChart', 'v5'))).toEqual({
    available_supply: '120124334.91',
    chart_data: latest.chart_data.map(({ date, closing_price }) => ({
      date,
      closing_price,
      market_cap: null,
    })),
  });
});

test('a supply of the integer 0 is unknown', () => {
  expect(marketChart(upstream('getMarketChart', 'v11-optimism'))).toEqual({
    available_supply: null,
    chart_data: [],
  });
});

test.each([
  ['transactions', transactionsChart],
  ['the market', marketChart],
])('a day without a date makes the chart of %s unreadable', (_what, read) => {
  const chart_data = [{ date: '2024-05-12' }, { date: null }];

  expect(() => read({ chart_data })).toThrow(expect.objectContaining({ path: 'chart_data[1].date' }));
});

test('ratios are strings even if upstream sends numbers, and null until blocks are complete', () => {
  expect(indexingStatus(upstream('getIndexingStatus', 'v11'))).toEqual({
    finished_indexing: true,
    finished_indexing_blocks: true,
    indexed_blocks_ratio: '1.00',
    indexed_internal_transactions_ratio: '1.00',
  });
  expect(indexingStatus(upstream('getIndexingStatus', 'v6'))).toMatchObject({
    finished_indexing: false,
    indexed_blocks_ratio: '0.87',
    indexed_internal_transactions_ratio: null,
  });
  expect(indexingStatus(upstream('getIndexingStatus', 'v12'))).toMatchObject({
    indexed_blocks_ratio: '1',
    indexed_internal_transactions_ratio: '0.93',
  });
});

test.each(['finished_indexing', 'finished_indexing_blocks', 'indexed_blocks_ratio'])(
  'an indexing status without %s is unreadable',
  name => {
    expect(() => indexingStatus({ ...upstream('getIndexingStatus', 'v11'), [name]: null })).toThrow(
      expect.objectContaining({ name: 'UnreadableRecord', path: name }),
    );
  },
);
