import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { at, each, fieldsOf, pick, required } from '../../upstream-json/fields.ts';
import { countOrNull, dayOrNull } from '../../upstream-json/values.ts';

type TransactionsChart = ExplorerSchemas['TransactionsChart'];

/** Transactions by day, the latest first as upstream sends them. @throws Unreadable for a day without its date. */
export function transactionsChart(value: unknown): TransactionsChart {
  return { chart_data: at('chart_data', fieldsOf(value).chart_data, days => each(days, day)) };
}

/** The count was renamed in 6.9, 7 and 9; 6.9 and 8 have two names of it. */
function day(value: unknown): TransactionsChart['chart_data'][number] {
  const record = fieldsOf(value);
  return {
    date: required(dayOrNull(record.date), 'date'),
    transaction_count: countOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
  };
}
