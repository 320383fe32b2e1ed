import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { pageOf } from '../api.ts';
import { useHead } from '../live/live.ts';
import { useChain } from './coin.ts';

/**
 * Blocks after the block of a record, and its finality, by the chain's latest block. Records say it too, as of the time
 * when they were stored.
 */
export function Finality({ chainId, block }: { chainId: number; block: number }): VNode | null {
  const head = useHead(chainId);
  const needed = useChain(chainId)?.confirmations;
  if (head === undefined) return null;
  const confirmations = Math.max(0, head - block);
  const count = `${grouped(confirmations)} ${confirmations === 1 ? 'confirmation' : 'confirmations'}`;
  if (needed === undefined) return html`<span>${count}</span>`;
  return confirmations >= needed
    ? html`${h(Badge, { tone: 'good', children: 'final' })} <span>${count}</span>`
    : html`${h(Badge, { tone: 'busy', children: 'not final' })} <span>${count} of ${grouped(needed)}</span>`;
}

/** States what was recomputed of a record; nothing when the source does not say. */
export function ProofBadge({ proven }: { proven: boolean | null }): VNode | null {
  if (proven === null) return null;
  return proven
    ? h(Badge, {
        tone: 'good',
        title:
          'Transactions, receipts and logs were recomputed, and are those that the hash of the block commits to. Consensus is not checked.',
        children: 'proven',
      })
    : h(Badge, {
        title: 'As a node reported it: it was not recomputed from the hash of the block.',
        children: 'not recomputed',
      });
}

/** Line below a heading that names the record's chain. */
export function OnChain({ chainId }: { chainId: number }): VNode {
  const name = useChain(chainId)?.name ?? `chain ${chainId}`;
  return html`<p class="small">On <a href=${pageOf.chain(chainId)}>${name}</a></p>`;
}
