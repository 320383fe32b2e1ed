import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Chart } from '#pages/browser/chart.ts';
import { Badge, Card, Facts } from '#pages/browser/layout.ts';
import type { Explorer, Insights } from '../api.ts';
import { dollars } from '../records/prices.ts';

type Token = Explorer['Token'];
type Price = Insights['TokenPrice'];

/** Price and market of a token in US dollars; renders nothing without a price. */
export function Market({ token, price }: { token: Token; price: Price | undefined }): VNode | null {
  const perToken = price?.price_usd ?? numberIn(token.exchange_rate);
  if (perToken === undefined) return null;
  const cap = price?.market_cap_usd ?? numberIn(token.circulating_market_cap);
  const days = price?.historical_prices ?? [];
  return html`<${Card} title="Market">
    <p class="row">
      <span class="figure">${dollars(perToken)}</span>
      ${price?.percent_change_24h != null && html`<${Change} percent=${price.percent_change_24h} />`}
    </p>
    <${Facts} rows=${[
      ['Market capitalisation', cap != null && dollars(cap)],
      ['Traded in 24 hours', price?.volume_24h_usd != null && dollars(price.volume_24h_usd)],
    ]} />
    ${days.length > 1 && html`<${PriceChart} days=${days} />`}
  <//>`;
}

function Change({ percent }: { percent: number }): VNode {
  const text = `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(2)} %`;
  return html`<${Badge} tone=${percent < 0 ? 'bad' : 'good'}>${text}<//> <span class="small">in 24 hours</span>`;
}

function PriceChart({ days }: { days: NonNullable<Price['historical_prices']> }): VNode {
  return html`<${Chart}
    label="price in US dollars"
    times=${days.map(({ date }) => Date.parse(date))}
    series=${[{ label: 'Price', values: days.map(({ price_usd }) => price_usd) }]}
    format=${dollars}
  />`;
}

function numberIn(text: string | null): number | undefined {
  return text === null ? undefined : Number(text);
}
