import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { clipped } from '#pages/browser/reference.ts';
import { setTitle, show } from '#pages/browser/show.ts';
import { pageOf, pagePath } from '../api.ts';
import type { Chain } from '../chains.ts';
import { Frame } from '../frame.ts';
import { useChains } from '../live/live.ts';
import { UnknownChain } from './unknown-chain.ts';

const PATH_CHARACTERS = 120;

/** Page for an unknown path: states that there is no page, and links to pages that exist. */
function Missing(): VNode {
  const chains = useChains();
  setTitle('Not found');
  return h(Frame, {
    children: h(Awaited<{ chains: readonly Chain[] }>, {
      loading: chains,
      children: ({ chains: all }) => {
        const chainId = location.pathname.startsWith('/chain/') ? pagePath().chainId : Number.NaN;
        const chain = all.find(({ id }) => id === chainId);
        const isChainUnknown = chain === undefined && Number.isSafeInteger(chainId) && chainId > 0;
        return isChainUnknown ? h(UnknownChain, { chainId, chains: all }) : h(NoPage, { chain });
      },
    }),
  });
}

function NoPage({ chain }: { chain: Chain | undefined }): VNode {
  return html`
    <h1>Page not found</h1>
    <p>There is no page at <code>${clipped(location.pathname, PATH_CHARACTERS)}</code>. Pages of a chain have paths like these:</p>
    <ul>
      ${['', '/block/12', '/tx/0x…', '/address/0x…', '/token/0x…', '/token/0x…/instance/1'].map(
        path => html`<li key=${path}><code>/chain/${chain?.id ?? '{id}'}${path}</code></li>`,
      )}
    </ul>
    <div class="row">
      ${chain !== undefined && html`<a class="button primary" href=${pageOf.chain(chain.id)}>${chain.name}</a>`}
      <a class="button" href="/search">Search</a>
      <a class="button" href="/">Home</a>
    </div>
  `;
}

show(Missing);
