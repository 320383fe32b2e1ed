import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { at, each, fieldsOf, given, pick, required } from '../../upstream-json/fields.ts';
import { countOrNull, dayOrNull, decimalOrNull } from '../../upstream-json/values.ts';

type TransactionsChart = ExplorerSchemas['TransactionsChart'];

/** Transactions by day, the latest first as upstream sends them. @throws Unreadable for a day without its date. */
export function transactionsChart(value: unknown): TransactionsChart {
  return { chart_data: at('chart_data', fieldsOf(value).chart_data, days => each(days, transactionsDay)) };
}

/** The count was renamed in 6.9, 7 and 9; 6.9 and 8 have two names of it. */
function transactionsDay(value: unknown): TransactionsChart['chart_data'][number] {
  const record = fieldsOf(value);
  return {
    date: required(dayOrNull(record.date), 'date'),
    transaction_count: countOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
  };
}

type MarketChart = ExplorerSchemas['MarketChart'];

/**
 * The coin's market by day. A supply that is known is text, the integer 0 stands for one that is not.
 * @throws Unreadable for a day without its date.
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
    ...given('tvl', decimalOrNull(record.tvl)),
  };
}
