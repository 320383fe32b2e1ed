import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { api, type Explorer } from '../api.ts';
import { atNewBlocks, type Chain, canAnswer } from '../chains.ts';
import { dollars } from '../records/figures.ts';

/** Tiles of a chain whose statistics are complete. */
const TILES = 7;
const SPACE = '\u00a0';

/** Figures of a chain as a row of tiles. Renders nothing when no back end has them. */
export function ChainFigures({ chain, title }: { chain: Chain; title: string }): VNode | null {
  const stats = useAnswer(
    signal => api.GET('/explorer/stats', { params: { query: { chain_id: chain.id } }, signal }),
    [chain.id],
    atNewBlocks(chain),
  );
  if (!canAnswer(chain, 'getStats')) return null;
  return h(Card, {
    title,
    children: h(Awaited<Explorer['Stats']>, {
      loading: stats,
      skeleton: html`<dl class="tiles">
        ${Array.from({ length: TILES }, () => html`<div><dt>${SPACE}</dt><dd>${SPACE}</dd></div>`)}
      </dl>`,
      children: data => html`<dl class="tiles">
        ${tilesOf(data).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
      </dl>`,
    }),
  });
}

type Tile = readonly [name: string, value: ComponentChildren];

function tilesOf(stats: Explorer['Stats']): readonly Tile[] {
  const { coin_price: price, market_cap: cap, network_utilization_percentage: used } = stats;
  const tiles: readonly (readonly [name: string, value: ComponentChildren])[] = [
    ['Blocks', grouped(stats.total_blocks)],
    ['Transactions', grouped(stats.total_transactions)],
    ['Transactions today', stats.transactions_today !== null && grouped(stats.transactions_today)],
    ['Addresses', grouped(stats.total_addresses)],
    ['Average block time', stats.average_block_time !== null && spanText(stats.average_block_time)],
    ['Coin price', price !== null && coinPrice(price, stats.coin_price_change_percentage)],
    ['Market cap', cap !== null && dollars(Number(cap), 'compact')],
    ...gasTiles(stats),
    ['Gas utilization', used !== null && `${used.toLocaleString('en', { maximumFractionDigits: 1 })} %`],
  ];
  return tiles.filter(([, value]) => value !== false);
}

function coinPrice(price: string, change: number | undefined): ComponentChildren {
  if (change === undefined) return dollars(Number(price));
  const text = `${change < 0 ? '−' : '+'}${Math.abs(change).toFixed(2)} % in 24 hours`;
  return html`${dollars(Number(price))}<span class="worth">${text}</span>`;
}

/** Gas of a plain transfer of coins. Source: the yellow paper, G_transaction. */
const TRANSFER_GAS = 21_000;
const GWEI_PER_COIN = 1e9;

/** Gas prices by speed, one tile if they do not differ, with the fee of a plain transfer in dollars (Decision 422). */
function gasTiles({ gas_prices: prices, coin_price: rate }: Explorer['Stats']): readonly Tile[] {
  if (prices === null) return [];
  const { slow, average, fast } = prices;
  const speeds = [
    ['slow', slow],
    ['average', average],
    ['fast', fast],
  ] as const;
  const known = speeds.flatMap(([speed, price]) => (price === null ? [] : [[speed, price] as const]));
  const areEqual = new Set(known.map(([, price]) => price)).size < 2;
  const shown = areEqual ? known.slice(0, 1) : known;
  return shown.map(([speed, price]) => [
    areEqual ? 'Gas price' : `Gas price, ${speed}`,
    html`${price.toLocaleString('en', { maximumSignificantDigits: 4 })} Gwei${
      rate !== null &&
      html`<span class="worth" title="Fee of a plain transfer of coins, at today’s rate">${dollars((price * TRANSFER_GAS * Number(rate)) / GWEI_PER_COIN)} a transfer</span>`
    }`,
  ]);
}

const MINUTE_MS = 60_000;

/** Duration in seconds, or in minutes from two minutes up. */
function spanText(ms: number): string {
  const [value, unit] = ms < 2 * MINUTE_MS ? [ms / 1_000, 's'] : [ms / MINUTE_MS, 'min'];
  return `${value.toLocaleString('en', { maximumFractionDigits: 1 })} ${unit}`;
}
