import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { fieldsOf, pick } from '../../upstream-json/fields.ts';
import { decimalOrNull, naturalOrNull } from '../../upstream-json/values.ts';
import { address } from './address.ts';

/**
 * A holder of the native coin. The number of its transactions has had three names, and is "" where nobody counted.
 * @throws Unreadable without a hash.
 */
export function coinHolder(value: unknown): ExplorerSchemas['CoinHolder'] {
  const record = fieldsOf(value);
  return {
    ...address(record),
    coin_balance: naturalOrNull(record.coin_balance),
    transaction_count: naturalOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
  };
}

/**
 * What a page of holders says besides its items: the price of a coin in US dollars and the supply in whole coins.
 * @throws Unreadable when the page is no object.
 */
export function coinTotals(
  page: unknown,
): Pick<ExplorerSchemas['CoinHoldersPage'], 'exchange_rate' | 'total_supply'> {
  const record = fieldsOf(page);
  return {
    exchange_rate: decimalOrNull(record.exchange_rate),
    total_supply: decimalOrNull(record.total_supply),
  };
}
