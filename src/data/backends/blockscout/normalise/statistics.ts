import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import {
  at,
  each,
  type Fields,
  fieldsOf,
  optionalField,
  pick,
  required,
} from '../../upstream-json/fields.ts';
import {
  booleanOrNull,
  countOrNull,
  dayOrNull,
  decimalOrNull,
  naturalOrNull,
  numberOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';

type Stats = ExplorerSchemas['Stats'];

/**
 * Converts the counters of a chain. Upstream writes zeros for unknown values: an uncounted day as the integer 0 and the
 * text "0", and a market without a price as "0".
 * @throws UnreadableRecord without the number of blocks, addresses or transactions.
 */
export function stats(value: unknown): Stats {
  const record = fieldsOf(value);
  const coinPrice = decimalOrNull(record.coin_price);
  const isDayCounted = record.gas_used_today !== 0 || record.transactions_today !== '0';
  return {
    total_blocks: count(record, 'total_blocks'),
    total_addresses: count(record, 'total_addresses'),
    total_transactions: count(record, 'total_transactions'),
    average_block_time: durationOrNull(record.average_block_time),
    coin_price: coinPrice,
    total_gas_used: naturalOrNull(record.total_gas_used),
    transactions_today: isDayCounted ? naturalOrNull(record.transactions_today) : null,
    gas_used_today: isDayCounted ? naturalOrNull(record.gas_used_today) : null,
    gas_prices: gasPrices(record.gas_prices),
    static_gas_price: decimalOrNull(record.static_gas_price),
    market_cap: marketCap(coinPrice, record.market_cap),
    network_utilization_percentage: numberOrNull(record.network_utilization_percentage),
    ...optionalField('tvl', decimalOrNull(record.tvl)),
    ...optionalField('coin_image', textOrNull(record.coin_image)),
    ...optionalField('coin_price_change_percentage', numberOrNull(record.coin_price_change_percentage)),
    ...optionalField('secondary_coin_image', textOrNull(record.secondary_coin_image)),
    ...optionalField('secondary_coin_price', decimalOrNull(record.secondary_coin_price)),
    ...optionalField('gas_price_updated_at', timestampOrNull(record.gas_price_updated_at)),
    ...optionalField('gas_prices_update_in', countOrNull(record.gas_prices_update_in)),
  };
}

function count(record: Fields, name: string): string {
  return required(naturalOrNull(record[name]), name);
}

function durationOrNull(value: unknown): number | null {
  const duration = numberOrNull(value);
  return duration !== null && duration >= 0 ? duration : null;
}

function marketCap(coinPrice: string | null, value: unknown): string | null {
  const cap = decimalOrNull(value);
  return coinPrice === null && Number(cap) === 0 ? null : cap;
}

/** Gas prices. Without any price upstream still sends the three speeds, each null. */
function gasPrices(value: unknown): Stats['gas_prices'] {
  if (!isObject(value)) return null;
  const [slow, average, fast] = [gasPrice(value.slow), gasPrice(value.average), gasPrice(value.fast)];
  return slow === null && average === null && fast === null ? null : { slow, average, fast };
}

/** Gas price: a number, or an object when the request has the header `updated-gas-oracle`. */
function gasPrice(value: unknown): number | null {
  return numberOrNull(isObject(value) ? value.price : value);
}

type TransactionsChart = ExplorerSchemas['TransactionsChart'];

/** Converts transactions by day, latest first as upstream sends them. @throws UnreadableRecord for a day without its date. */
export function transactionsChart(value: unknown): TransactionsChart {
  return { chart_data: at('chart_data', fieldsOf(value).chart_data, days => each(days, transactionsDay)) };
}

/** Converts one day. The count was renamed in 6.9, 7 and 9; 6.9 and 8 have it under two names. */
function transactionsDay(value: unknown): TransactionsChart['chart_data'][number] {
  const record = fieldsOf(value);
  return {
    date: required(dayOrNull(record.date), 'date'),
    transaction_count: countOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
  };
}

type MarketChart = ExplorerSchemas['MarketChart'];

/**
 * Converts the coin's market by day. A known supply is text; the integer 0 stands for an unknown one.
 * @throws UnreadableRecord for a day without its date.
 */
export function marketChart(value: unknown): MarketChart {
  const { available_supply: supply, chart_data: days } = fieldsOf(value);
  return {
    available_supply: supply === 0 ? null : decimalOrNull(supply),
    chart_data: at('chart_data', days, items => each(items, marketDay)),
  };
}

function marketDay(value: unknown): MarketChart['chart_data'][number] {
  const record = fieldsOf(value);
  return {
    date: required(dayOrNull(record.date), 'date'),
    closing_price: decimalOrNull(record.closing_price),
    market_cap: decimalOrNull(record.market_cap),
    ...optionalField('tvl', decimalOrNull(record.tvl)),
  };
}

/**
 * Converts the indexing status. Ratios are text, although upstream's documents say numbers. The ratio of internal
 * transactions is null until all blocks are indexed.
 * @throws UnreadableRecord without the status of the blocks.
 */
export function indexingStatus(value: unknown): ExplorerSchemas['IndexingStatus'] {
  const record = fieldsOf(value);
  return {
    finished_indexing: required(booleanOrNull(record.finished_indexing), 'finished_indexing'),
    finished_indexing_blocks: required(
      booleanOrNull(record.finished_indexing_blocks),
      'finished_indexing_blocks',
    ),
    indexed_blocks_ratio: required(decimalOrNull(record.indexed_blocks_ratio), 'indexed_blocks_ratio'),
    indexed_internal_transactions_ratio: decimalOrNull(record.indexed_internal_transactions_ratio),
  };
}

/** Converts the counters of an address. @throws UnreadableRecord when it is no object. */
export function addressCounters(value: unknown): ExplorerSchemas['AddressCounters'] {
  const record = fieldsOf(value);
  return {
    transactions_count: naturalOrNull(record.transactions_count),
    token_transfers_count: naturalOrNull(record.token_transfers_count),
    gas_usage_count: naturalOrNull(record.gas_usage_count),
    validations_count: naturalOrNull(record.validations_count),
  };
}

/** Converts the counters of the last 24 hours. @throws UnreadableRecord when it is no object. */
export function transactionStats(value: unknown): ExplorerSchemas['TransactionStats'] {
  const record = fieldsOf(value);
  return {
    transactions_count_24h: naturalOrNull(record.transactions_count_24h),
    pending_transactions_count: naturalOrNull(record.pending_transactions_count),
    transaction_fees_sum_24h: naturalOrNull(record.transaction_fees_sum_24h),
    transaction_fees_avg_24h: naturalOrNull(record.transaction_fees_avg_24h),
  };
}

/** Converts the numbers of holders and transfers of a token. @throws UnreadableRecord when it is no object. */
export function tokenCounters(value: unknown): ExplorerSchemas['TokenCounters'] {
  const record = fieldsOf(value);
  return {
    token_holders_count: naturalOrNull(record.token_holders_count),
    transfers_count: naturalOrNull(record.transfers_count),
  };
}

/** Converts the counters of contracts. @throws UnreadableRecord when it is no object. */
export function smartContractCounters(value: unknown): ExplorerSchemas['SmartContractCounters'] {
  const record = fieldsOf(value);
  return {
    smart_contracts: naturalOrNull(record.smart_contracts),
    new_smart_contracts_24h: naturalOrNull(record.new_smart_contracts_24h),
    verified_smart_contracts: naturalOrNull(record.verified_smart_contracts),
    new_verified_smart_contracts_24h: naturalOrNull(record.new_verified_smart_contracts_24h),
  };
}
