import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { components } from '#generated/data-service/types.ts';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { List } from '#pages/browser/list.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { show } from '#pages/browser/show.ts';
import { api, type Explorer, pageOf } from './api.ts';
import { Frame, Source } from './frame.ts';

type Chain = components['schemas']['ConfiguredChain'];

const RENEW_MS = 3_000;

/** The data service's home: its chains, and what happens on them. */
function Home(): VNode {
  const chains = useAnswer(signal => api.GET('/chains', { signal }), [], { everyMs: RENEW_MS });
  return html`<${Frame}>
    <h1>Chains</h1>
    <${Awaited} loading=${chains}>
      ${({ chains: all }: { chains: readonly Chain[] }) => html`
        <div class="grid">${all.map(chain => html`<${ChainCard} key=${chain.id} chain=${chain} />`)}</div>
        ${all[0] !== undefined && html`<${LatestBlocks} chain=${all[0]} />`}
      `}
    <//>
  <//>`;
}

function ChainCard({ chain }: { chain: Chain }): VNode {
  return html`<${Card} title=${html`<a href=${pageOf.chain(chain.id)}>${chain.name}</a>`}>
    <p class="small">Chain ${chain.id}</p>
    <ul class="plain">
      ${chain.backends.map(
        ({ name, ready, head, lag }) => html`<li key=${name}>
          <${Badge} tone=${ready ? 'good' : 'bad'}>${ready ? 'ready' : 'not ready'}<//> ${name}: block ${
            head === null ? 'unknown' : grouped(head)
          }${lag !== null && lag > 0 && `, ${grouped(lag)} behind`}
        </li>`,
      )}
    </ul>
  <//>`;
}

function LatestBlocks({ chain }: { chain: Chain }): VNode {
  return html`<${Card} title=${`Latest blocks of ${chain.name}`}>
    <${List}
      label=${`Latest blocks of ${chain.name}`}
      load=${(_: unknown, signal: AbortSignal) =>
        api.GET('/explorer/main-page/blocks', { params: { query: { chain_id: chain.id } }, signal })}
      pageOf=${(items: readonly Explorer['Block'][]) => ({ items, next: null })}
      keyOf=${({ hash }: Explorer['Block']) => hash}
      everyMs=${RENEW_MS}
      inputs=${[chain.id]}
      empty="There is no block yet."
      source=${(headers: Headers) => html`<${Source} headers=${headers} />`}
      columns=${[
        {
          name: 'Block',
          cell: ({ height }: Explorer['Block']) =>
            html`<a href=${pageOf.block(chain.id, height)}>${grouped(height)}</a>`,
        },
        { name: 'Age', cell: ({ timestamp }: Explorer['Block']) => html`<${Ago} at=${timestamp} />` },
        { name: 'Transactions', isNumber: true, cell: (block: Explorer['Block']) => block.transaction_count },
        {
          name: 'Miner',
          cell: ({ miner }: Explorer['Block']) => html`<${Reference}
            value=${miner.hash}
            name=${miner.name}
            href=${pageOf.address(chain.id, miner.hash)}
          />`,
        },
      ]}
    />
  <//>`;
}

show(Home);
