import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { show } from '#pages/browser/show.ts';
import { type Chain, hasAnswers } from '../chains.ts';
import { Frame } from '../frame.ts';
import { useChains } from '../live/live.ts';
import { SearchBox } from '../search-box.ts';
import { ChainCard } from './chain-card.ts';
import { ChainCharts } from './chain-charts.ts';
import { ChainFigures } from './chain-figures.ts';
import { LatestBlocks, LatestTransactions } from './latest.ts';

/** Home page of the data service: its chains, and the latest activity on one of them. */
function Home(): VNode {
  const chains = useChains();
  return h(Frame, {
    hasSearch: false,
    children: html`
      <section class="hero">
        <h1>Explore your chains</h1>
        <p>Blocks, transactions, addresses and tokens of every chain on this server.</p>
        ${h(SearchBox, {})}
      </section>
      ${h(Awaited<{ chains: readonly Chain[] }>, {
        loading: chains,
        skeleton: html`<div class="rest"></div>`,
        children: ({ chains: all }) => h(Chains, { chains: all }),
      })}
      ${h(Links, {})}
    `,
  });
}

/** Cards of all chains, and details of the selected one. The selection is part of the URL: `?chain=31338`. */
function Chains({ chains }: { chains: readonly Chain[] }): VNode {
  const [chosenId, setChosenId] = useState(Number(new URLSearchParams(location.search).get('chain')));
  const chosen = chains.find(({ id }) => id === chosenId) ?? chains[0];
  const choose = (id: number) => {
    history.replaceState(null, '', `?chain=${id}`);
    setChosenId(id);
  };
  return html`
    <h2 class="visually-hidden">Chains</h2>
    <div class="grid">
      ${chains.map(chain =>
        h(ChainCard, {
          key: chain.id,
          chain,
          isChosen: chain.id === chosen?.id,
          choose: chains.length > 1 ? () => choose(chain.id) : undefined,
        }),
      )}
    </div>
    ${chosen !== undefined && h(ChosenChain, { key: chosen.id, chain: chosen })}
  `;
}

function ChosenChain({ chain }: { chain: Chain }): VNode {
  if (!hasAnswers(chain)) {
    return h(Card, {
      title: chain.name,
      children: html`
        <div class="empty" role="status">
          <p>No block of this chain is available yet.</p>
          <p class="small">Blocks and transactions appear here automatically, as soon as a back end of the chain has its first one.</p>
        </div>
      `,
    });
  }
  return html`
    ${h(ChainFigures, { chain, title: chain.name })}
    ${h(ChainCharts, { chain })}
    <div class="grid wide">
      ${h(LatestBlocks, { chain })}
      ${h(LatestTransactions, { chain })}
    </div>
  `;
}

/** Entry points to the API for developers. */
const LINKS: readonly (readonly [href: string, name: string, purpose: string])[] = [
  ['/playground', 'Playground', 'Query blocks, transactions and events with filters, groups and sums.'],
  ['/docs', 'Reference', 'Every API operation, with a form to try it.'],
  ['/openapi.json', 'OpenAPI description', 'Generates a client in any language. YAML: /openapi.yaml.'],
  ['/chains', 'List of chains', 'Chains and back ends as JSON: what they can do, head and lag.'],
  ['/readyz', 'Readiness', 'For a load balancer: 200 while the service can answer.'],
];

/** Links to the reference, the API description and the operator's endpoints. */
function Links(): VNode {
  return h(Card, {
    title: 'Build with it',
    children: html`
      <ul class="plain grid">
        ${LINKS.map(
          ([href, name, purpose]) => html`<li key=${href}>
            <a href=${href}>${name}</a>
            <p class="small">${purpose}</p>
          </li>`,
        )}
        <li>
          Metrics
          <p class="small">
            ${'For Prometheus: '}<code>/metrics</code>${' on the operator’s listener ('}<code>admin.listen</code>${'), by default '}
            <code>127.0.0.1:3002</code>.
          </p>
        </li>
      </ul>
    `,
  });
}

show(Home);
