import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { OutageNotice } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Ago, loadedAt } from '#pages/browser/moment.ts';
import { isTemporary } from '#pages/browser/problem.ts';
import { pagePath } from './api.ts';
import { useChains } from './live/live.ts';
import { showChain } from './live/page-feed.ts';
import { SearchBox } from './search-box.ts';
import { StateNotices } from './state-notices.ts';

const { chainId: shownChain } = pagePath();
if (shownChain > 0) showChain(shownChain);

/** Header and footer around a page of the explorer. `hasSearch` is false if the content has its own search box. */
export function Frame({
  children,
  hasSearch = true,
}: {
  children: ComponentChildren;
  hasSearch?: boolean;
}): VNode {
  const { problem } = useChains();
  return html`
    <a class="skip" href="#content">Skip to the content</a>
    <header class="top">
      <a class="brand" href="/">tollgate</a>
      ${hasSearch && h(SearchBox, {})}
      <nav aria-label="Service">
        <a href="/playground">Playground</a>
        <a href="/docs">Reference</a>
      </nav>
    </header>
    <main id="content" tabindex="-1">
      ${h(StateNotices, {})}
      ${h(OutageNotice.Provider, { value: problem !== undefined && isTemporary(problem), children })}
    </main>
    <footer class="foot">
      <a href="/openapi.json">OpenAPI description</a>
      <a href="/docs">Reference</a>
      <a href="/chains">List of chains (JSON)</a>
      <a href="/readyz">Readiness</a>
    </footer>
  `;
}

/** Source of an answer: chain, back end and age, read from its headers. The age grows while the page is open. */
export function Source({ headers }: { headers: Headers }): VNode | null {
  const backend = headers.get('X-Backend');
  const chain = headers.get('X-Chain-Id');
  const at = useMemo(() => loadedAt(headers, Date.now()), [headers]);
  if (backend === null && chain === null) return null;
  return html`<p class="source small">
    From ${backend ?? 'several back ends'}${chain !== null && ` of chain ${chain}`}, ${h(Ago, { at })}
  </p>`;
}
