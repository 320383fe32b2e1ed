import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import { type Fields, fieldsOf, given, required } from '../../upstream-json/fields.ts';
import {
  countOrNull,
  decimalOrNull,
  naturalOrNull,
  numberOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';

type Stats = ExplorerSchemas['Stats'];

/**
 * The counters of a chain. Upstream writes zeros for what it does not know: a whole day as the integer 0 and the text
 * "0", and a market without a price as "0".
 * @throws Unreadable without the number of blocks, addresses or transactions.
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
    ...given('tvl', decimalOrNull(record.tvl)),
    ...given('coin_image', textOrNull(record.coin_image)),
    ...given('coin_price_change_percentage', numberOrNull(record.coin_price_change_percentage)),
    ...given('secondary_coin_image', textOrNull(record.secondary_coin_image)),
    ...given('secondary_coin_price', decimalOrNull(record.secondary_coin_price)),
    ...given('gas_price_updated_at', timestampOrNull(record.gas_price_updated_at)),
    ...given('gas_prices_update_in', countOrNull(record.gas_prices_update_in)),
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

/** Without any price upstream still sends the three speeds, each null. */
function gasPrices(value: unknown): Stats['gas_prices'] {
  if (!isObject(value)) return null;
  const [slow, average, fast] = [gasPrice(value.slow), gasPrice(value.average), gasPrice(value.fast)];
  return slow === null && average === null && fast === null ? null : { slow, average, fast };
}

/** A number, or an object about it for callers that send the header `updated-gas-oracle`. */
function gasPrice(value: unknown): number | null {
  return numberOrNull(isObject(value) ? value.price : value);
}
