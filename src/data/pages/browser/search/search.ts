import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, Empty, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { api, pageOf } from '../api.ts';
import { type Chain, canAnswer, hasAnswers } from '../chains.ts';
import { currentChainId, currentFirst, exactPage } from '../exact-page.ts';
import { Frame } from '../frame.ts';
import { readSearch } from '../search-text.ts';
import { ChainResults } from './chain-results.ts';
import { NamedAddress } from './named-address.ts';

const TITLE_CHARACTERS = 80;

const given = new URLSearchParams(location.search).get('q');
/** Text of the search, else the path of a record without a chain, such as `/tx/0x…`. */
const query = (
  given ?? (location.pathname === '/search' ? '' : decodeURIComponent(location.pathname))
).trim();
const search = readSearch(query);

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
              children: ({ chains: all }) => html`
                ${h(ForeignChain, { chains: all })}
                ${currentFirst(all, search.chainId ?? currentChainId()).map(chain => h(ChainCard, { key: chain.id, chain }))}
              `,
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
    ${search.kind === undefined && query.includes('.') && canAnswer(chain, 'resolveInput') && h(NamedAddress, { chain, name: query })}
    ${h(ChainResults, { chain, search })}
  `;
}

/** Says that the chain of a pasted address is not on this server. */
function ForeignChain({ chains }: { chains: readonly Chain[] }): VNode | null {
  const { chainId, host } = search;
  if (chainId === undefined || chains.some(({ id }) => id === chainId)) return null;
  const origin = host === undefined ? 'This is a record' : `${clipped(host)} is an explorer`;
  return html`<p class="notice">${origin} of chain ${chainId}, which this server does not have. These are results on its own chains.</p>`;
}

function Hint(): VNode {
  return h(Empty, {
    children: html`
      <p>Type in the search field above:</p>
      <p class="small">
        the number or the hash of a block, the hash of a transaction, an address, a name such as alice.eth, a word of
        the name of a token, or the address of a page of another explorer.
      </p>
    `,
  });
}

if (given === null && query !== '') exactPage(query).then(page => page && location.replace(page));
show(Search);
