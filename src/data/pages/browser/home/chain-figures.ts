import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { api, type Explorer } from '../api.ts';
import { atNewBlocks, type Chain, canAnswer } from '../chains.ts';

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
      children: data => html`<dl class="tiles">
        ${tilesOf(data).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
      </dl>`,
    }),
  });
}

function tilesOf(stats: Explorer['Stats']): readonly (readonly [name: string, value: string])[] {
  const gasPrice = stats.gas_prices?.average ?? null;
  const used = stats.network_utilization_percentage;
  const tiles: readonly (readonly [name: string, value: string | null])[] = [
    ['Blocks', grouped(stats.total_blocks)],
    ['Transactions', grouped(stats.total_transactions)],
    ['Transactions today', stats.transactions_today === null ? null : grouped(stats.transactions_today)],
    ['Addresses', grouped(stats.total_addresses)],
    ['Average block time', stats.average_block_time === null ? null : spanText(stats.average_block_time)],
    [
      'Gas price',
      gasPrice === null ? null : `${gasPrice.toLocaleString('en', { maximumFractionDigits: 3 })} Gwei`,
    ],
    [
      'Gas utilization',
      used === null ? null : `${used.toLocaleString('en', { maximumFractionDigits: 1 })} %`,
    ],
  ];
  return tiles.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
}

const MINUTE_MS = 60_000;

/** Duration in seconds, or in minutes from two minutes up. */
function spanText(ms: number): string {
  const [value, unit] = ms < 2 * MINUTE_MS ? [ms / 1_000, 's'] : [ms / MINUTE_MS, 'min'];
  return `${value.toLocaleString('en', { maximumFractionDigits: 1 })} ${unit}`;
}
