import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { countText, percentText, wholeUnits } from '#pages/browser/amounts.ts';
import { Chart, type Series } from '#pages/browser/chart.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import type { Payments } from '../api.ts';
import { Amount, ChainName } from '../chains.ts';

type Overview = Payments['AnalyticsOverview'];
type Volume = Payments['TokenVolume'];

/** Checkouts, conversion and volume of a period, in total and by day. */
export function Figures({ figures }: { figures: Overview }): VNode {
  const { sessions, volume, refunded, by_day: days } = figures;
  const times = useMemo(() => days.map(({ date }) => Date.parse(date)), [days]);
  const checkouts = useMemo<readonly Series[]>(
    () => [
      { label: 'Completed', values: days.map(day => day.sessions.completed) },
      { label: 'Expired unpaid', values: days.map(day => day.sessions.expired) },
    ],
    [days],
  );
  const rate = sessions.conversion_rate;
  return html`
    <div class="grid">
      ${h(Card, {
        title: 'Volume',
        children: html`${
          volume.length === 0
            ? html`<p class="small">No payments in this period.</p>`
            : volume.map(
                of => html`<div key=${keyOf(of)}>
                  <p class="figure">${h(Amount, { units: of.amount, of })}</p>
                  <p class="small">${countText(of.transactions)} ${of.transactions === 1 ? 'payment' : 'payments'} on ${h(ChainName, { id: of.chain_id })}</p>
                </div>`,
              )
        }${refunded.map(
          of => html`<p class="small" key=${keyOf(of)}>${h(Amount, { units: of.amount, of })} refunded</p>`,
        )}`,
      })}
      ${h(Card, {
        title: 'Checkouts',
        children: html`
          <p class="figure">${countText(sessions.completed)} paid</p>
          <p class="small">${countText(sessions.expired)} expired unpaid, ${countText(sessions.active)} open, ${countText(sessions.total)} in total</p>
        `,
      })}
      ${h(Card, {
        title: 'Conversion',
        children: html`
          <p class="figure">${rate === null ? '–' : percentText(rate)}</p>
          <p class="small">${rate === null ? 'No checkout of this period has ended yet.' : 'of the checkouts that ended were paid'}</p>
        `,
      })}
    </div>
    ${
      days.length > 0 &&
      html`<div class="grid">
        ${volume.map(of => h(VolumeByDay, { key: keyOf(of), of, days, times }))}
        ${h(Card, {
          title: 'Checkouts per day',
          children: h(Chart, { label: 'Checkouts per day', times, series: checkouts }),
        })}
      </div>`
    }
  `;
}

interface VolumeByDayProps {
  readonly of: Volume;
  readonly days: Overview['by_day'];
  readonly times: readonly number[];
}

/** Volume per day. The bars are rounded, but the table below them is exact. */
function VolumeByDay({ of, days, times }: VolumeByDayProps): VNode {
  const symbol = of.symbol ?? 'units';
  const series = useMemo<readonly Series[]>(() => {
    const amounts = days.map(({ volume }) => volume.find(one => keyOf(one) === keyOf(of))?.amount ?? '0');
    const texts = amounts.map(amount => wholeUnits(amount, of.decimals ?? 0));
    return [{ label: symbol, values: texts.map(text => Number(text.replaceAll(',', ''))), texts }];
  }, [days, of]);
  return h(Card, {
    title: html`Volume per day in ${symbol}, ${h(ChainName, { id: of.chain_id })}`,
    children: h(Chart, { label: `Volume per day in ${symbol}`, times, series, isBars: true }),
  });
}

function keyOf({ chain_id, token_address }: Pick<Volume, 'chain_id' | 'token_address'>): string {
  return `${chain_id} ${token_address}`;
}
