import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { Table } from '#pages/browser/table.ts';
import { api, type Payments } from '../api.ts';
import { Amount, ChainName } from '../chains.ts';
import { Choice, Days, Filters, givenFilters, oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { Download } from '../session/download.ts';

type Totals = Payments['PaymentTotals'];
type TokenTotal = Payments['TokenTotals'];

/** A token's total, and its period. */
interface PeriodRow {
  readonly period: string;
  readonly total: TokenTotal;
}

/** Page of payments and refunds per day or month, with a CSV export. */
function TotalsPage(): VNode {
  const query = requestedTotals();
  const totals = useAnswer(signal => api.GET('/api/v1/analytics/totals', { params: { query }, signal }));
  return html`
    <h1>Totals</h1>
    <p class="hint">
      Completed payments on the day they arrived, and completed refunds on the day they were sent, per token. What was
      never matched to a checkout is not included.
    </p>
    ${h(Filters, {
      children: html`
        ${h(Choice, { name: 'interval', label: 'Interval', words: [['day', 'Day']], all: 'Month' })}
        ${h(Days, {})}
        ${h(TimeZoneChoice, { chosen: query.time_zone })}
      `,
    })}
    ${h(Awaited<Totals>, {
      loading: totals,
      children: body => h(Parts, { of: body, query }),
    })}
  `;
}

/** Parameters of the totals, from the URL: by default months in the reader's time zone. */
function requestedTotals() {
  const given = givenFilters();
  const dayIn = (name: string) => /^\d{4}-\d{2}-\d{2}$/.exec(given.get(name) ?? '')?.[0];
  const [first, last] = [dayIn('from'), dayIn('to')];
  return {
    interval: oneOf('interval', [['day', 'Day']]) ?? 'month',
    time_zone: given.get('time_zone') ?? ownTimeZone(),
    ...(first !== undefined && { first_day: first }),
    ...(last !== undefined && { last_day: last }),
  } as const;
}

function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Select field with the time zones that the browser knows. */
function TimeZoneChoice({ chosen }: { chosen: string }): VNode {
  const zones = new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), chosen]);
  return html`<label>
    Time zone
    <select name="time_zone">
      ${[...zones].map(zone => html`<option value=${zone} selected=${zone === chosen}>${zone.replaceAll('_', ' ')}</option>`)}
    </select>
  </label>`;
}

function Parts({ of, query }: { of: Totals; query: object }): VNode {
  const rows = of.periods.flatMap(({ period, tokens }) => tokens.map(total => ({ period, total })));
  const path = 'analytics/totals/export';
  if (rows.length === 0) return html`<p>No payments and no refunds in this time.</p>`;
  return html`
    ${h(Card, {
      title: 'All periods',
      aside: h(Download, { path, query, file: 'totals.csv', label: 'Export (CSV)' }),
      children: h(Table<TokenTotal>, {
        label: 'All periods',
        columns: columnsOf<TokenTotal>(total => total),
        items: of.tokens,
        keyOf,
      }),
    })}
    ${h(Card, {
      title: of.interval === 'day' ? 'Per day' : 'Per month',
      children: h(Table<PeriodRow>, {
        label: of.interval === 'day' ? 'Per day' : 'Per month',
        columns: [
          { name: 'Period', cell: ({ period }) => period },
          ...columnsOf<PeriodRow>(({ total }) => total),
        ],
        items: rows,
        keyOf: ({ period, total }) => `${period} ${keyOf(total)}`,
      }),
    })}
  `;
}

function keyOf({ chain_id, token_address }: TokenTotal): string {
  return `${chain_id} ${token_address}`;
}

function columnsOf<Item>(totalOf: (item: Item) => TokenTotal) {
  const amount = (name: 'received' | 'refunded' | 'net') => (item: Item) =>
    h(Amount, { units: totalOf(item)[name], of: totalOf(item) });
  return [
    { name: 'Chain', cell: (item: Item) => h(ChainName, { id: totalOf(item).chain_id }) },
    { name: 'Payments', isNumber: true, cell: (item: Item) => grouped(totalOf(item).payments) },
    { name: 'Received', isNumber: true, cell: amount('received') },
    { name: 'Refunds', isNumber: true, cell: (item: Item) => grouped(totalOf(item).refunds) },
    { name: 'Refunded', isNumber: true, cell: amount('refunded') },
    { name: 'Net', isNumber: true, cell: amount('net') },
  ];
}

openPage('Totals', TotalsPage);
