import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Awaited, Empty } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card, reveal } from '#pages/browser/layout.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { pageOf, pagePath } from '../api.ts';
import { type Chain, canAnswer } from '../chains.ts';
import { Frame } from '../frame.ts';
import { useChains } from '../live/live.ts';
import { type ChainList, chainLists } from './chain-lists.ts';
import { UnknownChain } from './unknown-chain.ts';

const { chainId, rest } = pagePath();

/** Page of one list of a chain, with links to the others. */
function ListPage(): VNode {
  const chains = useChains();
  const list = chainLists.find(({ path }) => path === rest[0]);
  return h(Frame, {
    children: h(Awaited<{ chains: readonly Chain[] }>, {
      loading: chains,
      children: ({ chains: all }) => {
        const chain = all.find(({ id }) => id === chainId);
        if (chain === undefined || list === undefined) return h(UnknownChain, { chainId, chains: all });
        return h(ListView, { chain, list });
      },
    }),
  });
}

function ListView({ chain, list }: { chain: Chain; list: ChainList }): VNode {
  const { label, path, operationId, Content } = list;
  setTitle(label, chain.name);
  const bar = useRef<HTMLElement>(null);
  useEffect(() => reveal(bar.current), []);
  const answered = chainLists.filter(one => canAnswer(chain, one.operationId));
  return html`
    <div class="title">
      <h1>${label}</h1>
      <a href=${pageOf.chain(chain.id)}>${chain.name}</a>
    </div>
    <nav class="tabs" aria-label=${`Lists of ${chain.name}`} ref=${bar}>
      ${answered.map(
        one => html`<a
          key=${one.path}
          href=${pageOf.list(chain.id, one.path)}
          aria-current=${one.path === path ? 'page' : undefined}
        >${one.label}</a>`,
      )}
    </nav>
    ${h(Card, {
      children: canAnswer(chain, operationId)
        ? h(Content, { chainId: chain.id })
        : h(Empty, { children: 'None of this chain’s back ends offers this.' }),
    })}
  `;
}

show(ListPage);
