import { answerOf } from '#pages/browser/answer.ts';
import { shortened } from '#pages/browser/reference.ts';
import { api, pageOf, pagePath } from './api.ts';
import { type Chain, canAnswer, hasAnswers } from './chains.ts';
import { configuredChains } from './live/live.ts';
import type { SearchResult } from './search-result.ts';
import { readSearch, type SearchText } from './search-text.ts';

/** Chain of the page, or of the page from which the search came; undefined on a page of all chains. */
export function currentChainId(): number | undefined {
  if (location.pathname.startsWith('/chain/')) return pagePath().chainId;
  const given = new URLSearchParams(location.search).get('chain_id');
  return given === null ? undefined : Number(given);
}

/** Chains that can be searched, the one that the search means first. */
export async function searchedChains({ chainId = currentChainId() }: SearchText): Promise<readonly Chain[]> {
  return currentFirst((await configuredChains()).filter(hasAnswers), chainId);
}

export function currentFirst(chains: readonly Chain[], chainId: number | undefined): readonly Chain[] {
  return chains.toSorted((a, b) => Number(b.id === chainId) - Number(a.id === chainId));
}

/**
 * URL of the page that a text names exactly. The chain of the page, or of the text, is asked first and opens at once.
 * Of the others one must have the record alone. A complete address has a page although nothing happened to it.
 */
export async function exactPage(typed: string): Promise<string | undefined> {
  const search = readSearch(typed);
  const chains = await searchedChains(search);
  const meant = search.chainId ?? currentChainId();
  const here = chains.find(({ id }) => id === meant);
  const own = here && (pageWithoutLook(search, here) ?? (await exactPageOn(here, search)));
  if (own !== undefined) return own;
  const pages = await Promise.all(
    chains.filter(chain => chain !== here).map(chain => exactPageOn(chain, search)),
  );
  const [found, ...more] = pages.filter(page => page !== undefined);
  const [first] = chains;
  if (found === undefined) return first && addressPage(search, first.id);
  return more.length === 0 ? found : undefined;
}

/** Page of a record on a chain, if the chain has it; undefined also when the chain does not answer. */
export function exactPageOn(chain: Chain, search: SearchText): Promise<string | undefined> {
  return foundOn(chain, search).catch(() => undefined);
}

async function foundOn(chain: Chain, search: SearchText): Promise<string | undefined> {
  const { text, kind } = search;
  if (kind === undefined) {
    const [named] = await namedOn(chain, text);
    if (named !== undefined) return named.href;
  }
  if (!canAnswer(chain, 'searchRedirect')) return undefined;
  const query = { q: text, chain_id: chain.id };
  const { data } = await answerOf(api.GET('/explorer/search/check-redirect', { params: { query } }));
  if (data.type === null || data.parameter === null) return undefined;
  return (
    (data.type === 'address' ? addressPage(search, chain.id) : undefined) ??
    pageOf[data.type](chain.id, data.parameter)
  );
}

/** Page that opens although its record may be missing: of an address, and of what a pasted address names with its chain. */
function pageWithoutLook(search: SearchText, { id }: Chain): string | undefined {
  const { text, kind, chainId } = search;
  if (chainId === id && kind === 'transaction') return pageOf.transaction(id, text);
  if (chainId === id && kind === 'block') return pageOf.block(id, text);
  return addressPage(search, id);
}

/** Page of a complete address in the form that the text names; undefined for another text. */
export function addressPage({ text, kind, instanceId }: SearchText, chainId: number): string | undefined {
  if (kind === 'address') return pageOf.address(chainId, text);
  if (kind === 'token') return pageOf.token(chainId, text);
  return kind === 'instance' && instanceId !== undefined
    ? pageOf.instance(chainId, text, instanceId)
    : undefined;
}

/** Address of a name such as alice.eth on a chain. */
export async function namedOn(
  chain: Chain,
  name: string,
  signal?: AbortSignal,
): Promise<readonly SearchResult[]> {
  if (!name.includes('.') || !canAnswer(chain, 'resolveInput')) return [];
  const { data } = await answerOf(
    api.GET('/insights/v1/resolve/{input}', {
      params: { path: { input: name }, query: { chain_id: [chain.id] } },
      ...(signal && { signal }),
    }),
  );
  const { address, type } = data.data;
  if (address === undefined) return [];
  return [{ name, kind: type, value: shortened(address), href: pageOf.address(chain.id, address) }];
}
