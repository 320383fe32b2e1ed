import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, Empty, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { api, pageOf } from '../api.ts';
import { type Chain, canAnswer, hasAnswers } from '../chains.ts';
import { Frame } from '../frame.ts';
import { ChainResults } from './chain-results.ts';
import { NamedAddress } from './named-address.ts';

const TITLE_CHARACTERS = 80;

/** Text of the search, else the record of a path without a chain, such as `/tx/0x…`. */
const query = (
  new URLSearchParams(location.search).get('q') ?? decodeURIComponent(location.pathname.split('/')[2] ?? '')
).trim();

/** Page of search results, with one list per chain. */
function Search(): VNode {
  const chains = useAnswer(signal => api.GET('/chains', { signal }));
  setTitle(query === '' ? 'Search' : `Search for ${clipped(query, TITLE_CHARACTERS)}`);
  return h(Frame, {
    children: html`
      <h1>${query === '' ? 'Search' : `Results for “${clipped(query, TITLE_CHARACTERS)}”`}</h1>
      ${
        query === ''
          ? h(Hint, {})
          : h(Awaited<{ chains: readonly Chain[] }>, {
              loading: chains,
              children: ({ chains: all }) => all.map(chain => h(ChainCard, { key: chain.id, chain })),
            })
      }
    `,
  });
}

function ChainCard({ chain }: { chain: Chain }): VNode {
  const title = html`<a href=${pageOf.chain(chain.id)}>${chain.name}</a>`;
  return h(Card, {
    title,
    aside: html`<span class="small">chain ${chain.id}</span>`,
    children: contentOf(chain),
  });
}

function contentOf(chain: Chain): VNode {
  if (!hasAnswers(chain)) return h(Empty, { children: 'No block of this chain is available yet.' });
  if (!canAnswer(chain, 'search')) return h(Empty, { children: 'No back end of this chain can search.' });
  return html`
    ${query.includes('.') && canAnswer(chain, 'resolveInput') && h(NamedAddress, { chain, name: query })}
    ${h(ChainResults, { chain, query })}
  `;
}

function Hint(): VNode {
  return h(Empty, {
    children: html`
      <p>Type in the search field above:</p>
      <p class="small">
        the number or the hash of a block, the hash of a transaction, an address, a name such as alice.eth, or the name
        or symbol of a token.
      </p>
    `,
  });
}

show(Search);
