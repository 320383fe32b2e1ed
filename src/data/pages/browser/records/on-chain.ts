import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { pageOf } from '../api.ts';
import { useChain } from './coin.ts';

/** Line below a heading that names the record's chain. */
export function OnChain({ chainId }: { chainId: number }): VNode {
  const name = useChain(chainId)?.name ?? `chain ${chainId}`;
  return html`<p class="small">On <a href=${pageOf.chain(chainId)}>${name}</a></p>`;
}
