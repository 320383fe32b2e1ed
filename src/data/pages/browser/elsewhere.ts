import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Chain } from './chains.ts';
import { exactPageOn, searchedChains } from './exact-page.ts';
import { readSearch } from './search-text.ts';

interface FoundPage {
  readonly chain: Chain;
  readonly href: string;
}

/**
 * Says on which other chains a record is that this one does not have. Each is asked once. `what` names the record:
 * `transaction`.
 */
export function Elsewhere({
  chainId,
  what,
  text,
}: {
  chainId: number;
  what: string;
  text: string;
}): VNode | null {
  const [pages, setPages] = useState<readonly FoundPage[]>();
  useEffect(() => {
    let isShown = true;
    pagesElsewhere(chainId, text).then(found => isShown && setPages(found));
    return () => {
      isShown = false;
    };
  }, [chainId, text]);
  if (pages === undefined || pages.length === 0) return null;
  return html`<span class="notice elsewhere" role="status">
    This ${what} is on ${pages.map(
      ({ chain, href }, index) =>
        html`${index > 0 && (index === pages.length - 1 ? ' and ' : ', ')}<a key=${chain.id} href=${href}>${chain.name}</a>`,
    )}.
  </span>`;
}

async function pagesElsewhere(chainId: number, text: string): Promise<readonly FoundPage[]> {
  const search = readSearch(text);
  const others = (await searchedChains(search)).filter(({ id }) => id !== chainId);
  const pages = await Promise.all(
    others.map(async chain => ({ chain, href: await exactPageOn(chain, search) })),
  );
  return pages.flatMap(({ chain, href }) => (href === undefined ? [] : [{ chain, href }]));
}
