import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { percentText } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { Chart } from '#pages/browser/chart.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField } from '#pages/browser/fields.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { CheckoutStatus } from '../statuses.ts';

type Session = Payments['CheckoutSession'];

const STATUSES: readonly (readonly ['' | Session['status'], string])[] = [
  ['', 'All'],
  ['active', 'Open'],
  ['completed', 'Completed'],
  ['expired', 'Expired'],
];

/** Checkouts of a link, the newest first. */
export function LinkCheckouts({ id }: { id: string }): VNode {
  const [status, setStatus] = useState<'' | Session['status']>('');
  const load = (page: number | undefined, signal: AbortSignal) => {
    const query = { ...pageQuery(page), ...(status !== '' && { status }) };
    const params = { path: { payment_link_id: id }, query };
    return api.GET('/api/v1/payment-links/{payment_link_id}/sessions', { params, signal });
  };
  return h(Card, {
    title: 'Checkouts of this link',
    children: html`
      ${h(SelectField<'' | Session['status']>, {
        label: 'Status',
        param: 'status',
        value: status,
        options: STATUSES,
        onValue: setStatus,
      })}
      ${numberedList({
        label: 'Checkouts of this link',
        inputs: [status],
        load,
        keyOf: (session: Session) => session.id,
        empty:
          status === ''
            ? 'No checkouts yet. One begins when a payer opens the link.'
            : 'No checkouts have this status.',
        columns: [
          {
            name: 'Checkout',
            cell: (session: Session) =>
              h(Reference, { value: session.id, href: dashboard.payment(session.id) }),
          },
          { name: 'Status', cell: (session: Session) => h(CheckoutStatus, { session }) },
          {
            name: 'Amount',
            isNumber: true,
            cell: (session: Session) => h(Amount, { units: session.amount, of: session }),
          },
          { name: 'Created', cell: (session: Session) => h(Ago, { at: session.created_at }) },
        ],
      })}
    `,
  });
}

type Stats = Payments['PaymentLinkStats'];

const PERIODS: readonly (readonly [Stats['period'], string])[] = [
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['90d', 'Last 90 days'],
  ['all', 'All time'],
];

/** Checkouts, payments and volume of a link. */
export function LinkStats({ id }: { id: string }): VNode {
  const [period, setPeriod] = useState<Stats['period']>('30d');
  const stats = useAnswer(
    signal =>
      api.GET('/api/v1/payment-links/{payment_link_id}/stats', {
        params: { path: { payment_link_id: id }, query: { period } },
        signal,
      }),
    [id, period],
  );
  return h(Card, {
    title: 'Statistics',
    children: html`
      ${h(SelectField<Stats['period']>, {
        label: 'Period',
        param: 'period',
        value: period,
        options: PERIODS,
        onValue: setPeriod,
      })}
      ${h(Awaited<Stats>, { loading: stats, children: body => h(Figures, { stats: body }) })}
    `,
  });
}

function Figures({ stats }: { stats: Stats }): VNode {
  const { sessions, volume, by_day: days } = stats;
  const rate = sessions.conversion_rate;
  return html`
    ${h(Facts, {
      rows: [
        ['Checkouts', sessions.total],
        ['Completed', sessions.completed],
        ['Expired unpaid', sessions.expired],
        ['Open', sessions.active],
        ['Conversion', rate === null ? 'no checkout has ended yet' : percentText(rate)],
        [
          'Volume',
          volume.length === 0
            ? 'none yet'
            : html`<ul class="plain">
              ${volume.map(
                of => html`<li key=${of.chain_id + of.token_address}>
                  ${h(Amount, { units: of.amount, of })}
                </li>`,
              )}
            </ul>`,
        ],
      ],
    })}
    ${
      days.length > 1 &&
      h(Chart, {
        label: 'Checkouts per day',
        isBars: true,
        times: days.map(({ date }) => Date.parse(date)),
        series: [
          { label: 'Completed', values: days.map(day => day.sessions.completed) },
          { label: 'Expired unpaid', values: days.map(day => day.sessions.expired) },
        ],
      })
    }
  `;
}
