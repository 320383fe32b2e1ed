import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Card, type Fact, Facts } from '#pages/browser/layout.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from '../api.ts';
import { AddressReference } from '../records/address-reference.ts';
import { Finality } from '../records/chain-facts.ts';
import { CoinAmount } from '../records/coin.ts';
import { GasPrice, GasUsed } from '../records/figures.ts';

type Block = Explorer['Block'];

/** All fields of a block. */
export function BlockOverview({ chainId, block }: { chainId: number; block: Block }): VNode {
  const coin = (amount: string | null): ComponentChildren =>
    amount !== null && h(CoinAmount, { chainId, amount });
  return html`<div class="stack">
    <div class="grid">
    ${h(Card, { title: 'Overview', children: h(Facts, { rows: overview(chainId, block) }) })}
    ${h(Card, {
      title: 'Gas and fees',
      children: h(Facts, {
        rows: [
          [
            'Gas used',
            block.gas_used !== null &&
              html`${h(GasUsed, { used: block.gas_used, limit: block.gas_limit })}${targetText(block)}`,
          ],
          ['Gas limit', block.gas_used === null && grouped(block.gas_limit)],
          [
            'Base fee per gas',
            block.base_fee_per_gas !== null && h(GasPrice, { amount: block.base_fee_per_gas }),
          ],
          ['Transaction fees', coin(block.transaction_fees)],
          [
            'Burnt fees',
            block.burnt_fees !== null &&
              html`${coin(block.burnt_fees)}${block.burnt_fees_percentage !== null && ` (${block.burnt_fees_percentage} % of the fees)`}`,
          ],
          ['Priority fees', coin(block.priority_fee)],
          ...block.rewards.map(({ type, reward }): Fact => [type, coin(String(reward))]),
        ],
      }),
    })}
    </div>
    ${h(Card, { title: 'Header', children: h(Facts, { rows: header(chainId, block) }) })}
  </div>`;
}

function overview(chainId: number, block: Block): readonly Fact[] {
  const { timestamp, miner, height, type, transaction_count, withdrawals_count, size } = block;
  const isOnChain = type === null || type === 'block';
  return [
    ['Timestamp', html`${h(Moment, { at: timestamp })} (${h(Ago, { at: timestamp })})`],
    ['Finality', isOnChain && h(Finality, { chainId, block: height })],
    ['Fee recipient', h(AddressReference, { chainId, address: miner })],
    [
      'Transactions',
      transaction_count !== null && html`<a href="?tab=transactions">${grouped(transaction_count)}</a>`,
    ],
    ['Withdrawals', withdrawals_count !== null && grouped(withdrawals_count)],
    ['Size', size !== null && `${grouped(size)} bytes`],
  ];
}

function header(chainId: number, block: Block): readonly Fact[] {
  const whole = (value: string | null, href?: string) =>
    value !== null && h(Reference, { value, href, isWhole: true });
  const { uncles_hashes } = block;
  return [
    ['Hash', whole(block.hash)],
    [
      'Parent hash',
      whole(block.parent_hash, block.height > 0 ? pageOf.block(chainId, block.parent_hash) : undefined),
    ],
    ['State root', whole(block.state_root)],
    ['Access list hash', whole(block.block_access_list_hash)],
    ['Slot', block.slot_number !== null && grouped(block.slot_number)],
    ['Difficulty', block.difficulty !== null && grouped(block.difficulty)],
    ['Total difficulty', block.total_difficulty !== null && grouped(block.total_difficulty)],
    ['Nonce', whole(block.nonce)],
    ['Extra data', block.extra_data === '0x' ? 'none' : whole(block.extra_data)],
    [
      'Uncles',
      uncles_hashes.length > 0 &&
        uncles_hashes.map(hash => html`<div key=${hash}>${whole(hash, pageOf.block(chainId, hash))}</div>`),
    ],
  ];
}

function targetText({ gas_target_percentage: distance }: Block): ComponentChildren {
  if (distance === null) return null;
  const side = distance < 0 ? 'below' : 'above';
  return html`<div class="small">${Math.abs(distance).toFixed(2)} % ${side} the gas target</div>`;
}
