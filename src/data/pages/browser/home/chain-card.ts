import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { pageOf } from '../api.ts';
import { type Chain, type ChainBackend, progressOf, stateOf } from '../chains.ts';
import { headOf } from '../live/live-state.ts';

/**
 * Card of a chain: its latest block, and its back ends with their state. `choose` selects it for the rest of the page.
 */
export function ChainCard({
  chain,
  isChosen,
  choose,
}: {
  chain: Chain;
  isChosen: boolean;
  choose?: (() => void) | undefined;
}): VNode {
  const head = headOf(chain);
  return html`<section class=${isChosen && choose !== undefined ? 'card chosen' : 'card'} aria-label=${chain.name}>
    <header>
      <h3><a href=${pageOf.chain(chain.id)}>${chain.name}</a></h3>
      <span class="small">chain ${chain.id}</span>
    </header>
    <p>
      <span class="figure">${head === undefined ? '–' : grouped(head)}</span>
      <span class="small"> ${head === undefined ? 'no block yet' : 'latest block'}</span>
    </p>
    <ul class="plain stack">
      ${chain.backends.map(backend => h(BackendState, { key: backend.name, backend }))}
    </ul>
    ${
      choose !== undefined &&
      html`<div class="row"><button type="button" aria-pressed=${isChosen} onClick=${choose}>
        ${isChosen ? 'Selected' : 'Select'}
      </button></div>`
    }
  </section>`;
}

/** State of a back end, with its progress while it catches up, and the number of blocks that it has only in part. */
export function BackendState({ backend }: { backend: ChainBackend }): VNode {
  const [tone, words] = stateOf(backend);
  const progress = progressOf(backend);
  const incomplete = backend.incomplete_blocks ?? 0;
  return html`<li>
    <div class="row between">
      <span>${backend.name}</span>
      ${h(Badge, { tone, children: words })}
    </div>
    ${
      progress !== undefined &&
      html`<progress
        aria-label=${`Blocks of ${backend.name}`}
        max=${progress.all}
        value=${progress.done}
      ></progress>
      <p class="small">${grouped(progress.done)} of ${grouped(progress.all)} blocks</p>`
    }
    ${
      incomplete > 0 &&
      html`<p class="small">
        ${grouped(incomplete)} ${incomplete === 1 ? 'block is' : 'blocks are'} incomplete: the node has not given all
        receipts or traces
      </p>`
    }
  </li>`;
}
