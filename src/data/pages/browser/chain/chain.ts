import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card, Tabs } from '#pages/browser/layout.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { pageOf, pagePath } from '../api.ts';
import { type Chain, canAnswer, hasAnswers } from '../chains.ts';
import { Frame } from '../frame.ts';
import { BackendState } from '../home/chain-card.ts';
import { ChainCharts } from '../home/chain-charts.ts';
import { ChainFigures } from '../home/chain-figures.ts';
import { useChains } from '../live/live.ts';
import { headOf } from '../live/live-state.ts';
import { chainLists } from './chain-lists.ts';
import { UnknownChain } from './unknown-chain.ts';

const { chainId } = pagePath();

/** Page of a chain: the state of its back ends, its figures per day, and lists of its records. */
function ChainPage(): VNode {
  const chains = useChains();
  return h(Frame, {
    children: h(Awaited<{ chains: readonly Chain[] }>, {
      loading: chains,
      children: ({ chains: all }) => {
        const chain = all.find(({ id }) => id === chainId);
        if (chain === undefined) return h(UnknownChain, { chainId, chains: all });
        return h(ChainView, { chain });
      },
    }),
  });
}

function ChainView({ chain }: { chain: Chain }): VNode {
  const head = headOf(chain);
  setTitle(chain.name);
  return html`
    <div class="title">
      <h1>${chain.name}</h1>
      <div class="row">
        ${h(Badge, { children: html`chain ${chain.id}` })}
        ${head !== undefined && h(Badge, { tone: 'busy', children: html`block ${grouped(head)}` })}
      </div>
    </div>
    ${h(Card, {
      title: 'Back ends',
      aside: html`<span class="small">
        asked in this order; final after ${grouped(chain.confirmations)} more ${chain.confirmations === 1 ? 'block' : 'blocks'}
      </span>`,
      children: html`
        <ul class="plain stack">
          ${chain.backends.map(backend => h(BackendState, { key: backend.name, backend }))}
        </ul>
      `,
    })}
    ${hasAnswers(chain) ? h(Contents, { chain }) : h(Waiting, {})}
  `;
}

function Waiting(): VNode {
  return html`<div class="empty" role="status">
    <p>No block of this chain is available yet.</p>
    <p class="small">Its records appear here automatically, as soon as a back end has the first block.</p>
  </div>`;
}

function Contents({ chain }: { chain: Chain }): VNode {
  const lists = chainLists.filter(({ operationId }) => canAnswer(chain, operationId));
  return html`
    ${h(ChainFigures, { chain, title: 'Statistics' })}
    ${h(ChainCharts, { chain })}
    ${h(Card, {
      children: h(Tabs, {
        label: `Records of ${chain.name}`,
        tabs: lists.map(({ id, label, path, Content }) => ({
          id,
          label,
          content: () => html`
            <p><a class="button" href=${pageOf.list(chain.id, path)}>Open this list as a page</a></p>
            ${h(Content, { chainId: chain.id })}
          `,
        })),
      }),
    })}
  `;
}

show(ChainPage);
