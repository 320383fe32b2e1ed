import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { pageOf } from '../api.ts';
import type { Chain } from '../chains.ts';

/** Tells that a chain is not served, and lists the served ones. */
export function UnknownChain({ chainId, chains }: { chainId: number; chains: readonly Chain[] }): VNode {
  return html`
    <h1>No chain ${chainId} here</h1>
    <p>This server has no chain with the id ${chainId}. It has these:</p>
    <ul>
      ${chains.map(({ id, name }) => html`<li key=${id}><a href=${pageOf.chain(id)}>${name}</a> (${id})</li>`)}
    </ul>
    <p class="small">More chains are added under <code>chains</code> in the server's configuration.</p>
  `;
}
