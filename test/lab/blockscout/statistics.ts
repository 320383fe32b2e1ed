import { each, type Fields, fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { countOfTransactions, type Generation, since } from './generation.ts';

/** Only these counters are in every generation. */
const FIRST = [
  'total_blocks',
  'total_addresses',
  'total_transactions',
  'average_block_time',
  'coin_price',
  'total_gas_used',
  'transactions_today',
  'gas_used_today',
  'gas_prices',
  'static_gas_price',
  'market_cap',
  'network_utilization_percentage',
] as const;

/** The counters. A market without a price and a day without a count are zero. */
export function stats(generation: Generation, record: Fields): Fields {
  const first = Object.fromEntries(FIRST.map(name => [name, record[name] ?? null]));
  const known = {
    ...first,
    market_cap: record.market_cap ?? '0',
    transactions_today: record.transactions_today ?? '0',
    gas_used_today: record.gas_used_today ?? 0,
    gas_prices: record.gas_prices ?? { slow: null, average: null, fast: null },
  };
  if (!since(generation, 'v6.9')) return known;
  return {
    ...known,
    coin_image: null,
    coin_price_change_percentage: null,
    gas_price_updated_at: record.gas_price_updated_at ?? null,
    gas_prices_update_in: record.gas_prices_update_in ?? null,
    tvl: null,
    secondary_coin_image: null,
    secondary_coin_price: null,
  };
}

/** Transactions by day. */
export function transactionsChart(generation: Generation, record: Fields): Fields {
  return {
    chart_data: each(record.chart_data, item => {
      const { date, transaction_count: count } = fieldsOf(item);
      return { date, ...countOfTransactions(generation, count) };
    }),
  };
}

/** The market by day. The number 0 stands for an unknown supply. */
export function marketChart(_generation: Generation, record: Fields): Fields {
  return { available_supply: record.available_supply ?? 0, chart_data: record.chart_data };
}
