import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { Awaited, Empty, Placeholder, useAnswer } from '#pages/browser/answer.ts';
import { Chart } from '#pages/browser/chart.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { api, type Insights } from '../api.ts';
import { atNewMinutes, type Chain, canAnswer } from '../chains.ts';

const DAY_MS = 86_400_000;
const DAYS = 31;
/** Minimum number of days in a chart, used for a young chain. */
const FEWEST_DAYS = 7;

const GAS_TITLE = 'Gas used per day';
const CHART = html`<div class="of-chart"></div>`;

/**
 * Charts of a chain's transactions and gas per day, if its back ends count them. The last day is that of the latest
 * block, because a chain may stand still.
 */
export function ChainCharts({ chain }: { chain: Chain }): VNode {
  const loading = useAnswer(
    signal =>
      api.GET('/explorer/stats/charts/transactions', { params: { query: { chain_id: chain.id } }, signal }),
    [chain.id],
    atNewMinutes(),
  );
  const counts = loading.answer?.data.chart_data.map(
    ({ date, transaction_count }): Day => [Date.parse(date), transaction_count ?? 0],
  );
  const isKnown = loading.answer !== undefined || loading.problem !== undefined;
  const lastDay =
    counts === undefined || counts.length === 0 ? today() : Math.max(...counts.map(([day]) => day));
  return html`<div class="grid wide">
    ${h(Card, {
      title: 'Transactions per day',
      children: h(Awaited<unknown>, {
        loading,
        skeleton: CHART,
        children: () =>
          h(DailyChart, {
            label: 'Transactions per day',
            name: 'Transactions',
            days: counts ?? [],
            lastDay,
          }),
      }),
    })}
    ${
      canAnswer(chain, 'queryBlocks') &&
      (isKnown
        ? h(GasPerDay, { chain, lastDay })
        : h(Card, { title: GAS_TITLE, children: h(Placeholder, { children: CHART }) }))
    }
  </div>`;
}

function GasPerDay({ chain, lastDay }: { chain: Chain; lastDay: number }): VNode {
  const { id: chainId } = chain;
  const loading = useAnswer(
    signal =>
      api.GET('/insights/v1/blocks', {
        params: {
          query: {
            chain_id: [chainId],
            group_by: ['day'],
            aggregate: ['sum(gas_used) as gas'],
            filter_block_timestamp_gte: BigInt((lastDay - (DAYS - 1) * DAY_MS) / 1_000),
            sort_by: 'day',
            sort_order: 'asc',
            limit: DAYS,
            page: 0,
          },
        },
        signal,
      }),
    [chainId, lastDay],
    atNewMinutes(),
  );
  return h(Card, {
    title: GAS_TITLE,
    children: h(Awaited<{ aggregations?: Insights['Aggregations'] }>, {
      loading,
      skeleton: CHART,
      children: ({ aggregations = [] }) =>
        h(DailyChart, {
          label: GAS_TITLE,
          name: 'Gas',
          days: aggregations.map(({ day, gas }): Day => [Date.parse(String(day)), Number(gas)]),
          lastDay,
        }),
    }),
  });
}

type Day = readonly [time: number, value: number];

/**
 * Bars from the first day with a value to the last day, for at least `FEWEST_DAYS` and at most `DAYS` days. Days
 * without data count as zero.
 */
function DailyChart({
  label,
  name,
  days,
  lastDay,
}: {
  label: string;
  name: string;
  days: readonly Day[];
  lastDay: number;
}): VNode {
  const content = days.map(day => day.join()).join(' ');
  const { times, series } = useMemo(() => {
    const values = new Map(days);
    const used = days.filter(([, value]) => value > 0).map(([time]) => time);
    const first = Math.max(
      Math.min(...used, lastDay - (FEWEST_DAYS - 1) * DAY_MS),
      lastDay - (DAYS - 1) * DAY_MS,
    );
    const shown = Array.from({ length: (lastDay - first) / DAY_MS + 1 }, (_, day) => first + day * DAY_MS);
    return { times: shown, series: [{ label: name, values: shown.map(time => values.get(time) ?? 0) }] };
  }, [content, lastDay]);
  if (days.every(([, value]) => value === 0)) {
    return h(Empty, { children: html`No data for the last ${DAYS} days.` });
  }
  return h(Chart, { label, times, series, isBars: true, format: short });
}

/** Start of the current day in UTC. */
function today(): number {
  return Math.floor(Date.now() / DAY_MS) * DAY_MS;
}

function short(value: number): string {
  return value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 });
}
