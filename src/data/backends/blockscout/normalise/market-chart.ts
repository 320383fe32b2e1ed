import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { at, each, fieldsOf, given, required } from '../../upstream-json/fields.ts';
import { dayOrNull, decimalOrNull } from '../../upstream-json/values.ts';

type MarketChart = ExplorerSchemas['MarketChart'];

/**
 * The coin's market by day. A supply that is known is text, the integer 0 stands for one that is not.
 * @throws Unreadable for a day without its date.
 */
export function marketChart(value: unknown): MarketChart {
  const { available_supply: supply, chart_data: days } = fieldsOf(value);
  return {
    available_supply: supply === 0 ? null : decimalOrNull(supply),
    chart_data: at('chart_data', days, items => each(items, day)),
  };
}

function day(value: unknown): MarketChart['chart_data'][number] {
  const record = fieldsOf(value);
  return {
    date: required(dayOrNull(record.date), 'date'),
    closing_price: decimalOrNull(record.closing_price),
    market_cap: decimalOrNull(record.market_cap),
    ...given('tvl', decimalOrNull(record.tvl)),
  };
}
