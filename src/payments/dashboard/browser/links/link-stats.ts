import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { Chart } from '#pages/browser/chart.ts';
import { SelectField } from '#pages/browser/fields.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { api, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';

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
  return html`<${Card} title="Figures">
    <${SelectField} label="Period" param="period" value=${period} options=${PERIODS} onValue=${setPeriod} />
    <${Awaited} loading=${stats}>${(body: Stats) => html`<${Figures} stats=${body} />`}<//>
  <//>`;
}

function Figures({ stats }: { stats: Stats }): VNode {
  const { sessions, volume, by_day: days } = stats;
  const rate = sessions.conversion_rate;
  return html`
    <${Facts}
      rows=${[
        ['Checkouts', sessions.total],
        ['Completed', sessions.completed],
        ['Expired unpaid', sessions.expired],
        ['Open', sessions.active],
        ['Conversion', rate === null ? 'no checkout has ended' : `${(rate * 100).toFixed(1)} %`],
        [
          'Volume',
          volume.length === 0
            ? 'nothing yet'
            : html`<ul class="plain">
                ${volume.map(
                  of => html`<li key=${of.chain_id + of.token_address}>
                    <${Amount} units=${of.amount} of=${of} />
                  </li>`,
                )}
              </ul>`,
        ],
      ]}
    />
    ${
      days.length > 1 &&
      html`<${Chart}
        label="Checkouts by day"
        isBars=${true}
        times=${days.map(({ date }) => Date.parse(date))}
        series=${[
          { label: 'Completed', values: days.map(day => day.sessions.completed) },
          { label: 'Expired', values: days.map(day => day.sessions.expired) },
        ]}
      />`
    }
  `;
}
