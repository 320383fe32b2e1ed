import { useEffect, useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { shortened } from '#pages/browser/reference.ts';
import { api, type Explorer, pageOf } from './api.ts';
import { type Chain, canAnswer, configuredChains, hasAnswers } from './chains.ts';
import { resultOf, type SearchResult } from './search-result.ts';

/** Result suggested while typing, with its chain. */
export interface Suggestion extends SearchResult {
  readonly chain: Chain;
}

export interface Suggestions {
  readonly items: readonly Suggestion[];
  /** True until every chain has answered. */
  readonly isAsking: boolean;
  /** Names of the chains that did not answer. */
  readonly silent: readonly string[];
}

const PAUSE_MS = 200;
const MAX_PER_CHAIN = 6;
const NONE: Suggestions = { items: [], isAsking: false, silent: [] };

/** Asks every chain for matches once typing pauses. Results of each chain appear when it answers. */
export function useSuggestions(text: string): Suggestions {
  const [suggestions, setSuggestions] = useState(NONE);
  useEffect(() => {
    const query = text.trim();
    if (query === '') return setSuggestions(NONE);
    const leaving = new AbortController();
    setSuggestions(({ items }) => ({ items, isAsking: true, silent: [] }));
    const timer = setTimeout(
      () => suggest(query, leaving.signal, given => leaving.signal.aborted || setSuggestions(given)),
      PAUSE_MS,
    );
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [text]);
  return suggestions;
}

async function suggest(
  query: string,
  signal: AbortSignal,
  tell: (suggestions: Suggestions) => void,
): Promise<void> {
  const chains = (await configuredChains()).filter(hasAnswers);
  const found = new Map<Chain, readonly Suggestion[]>();
  const silent: string[] = [];
  const report = () =>
    tell({
      items: chains.flatMap(chain => found.get(chain) ?? []),
      isAsking: found.size + silent.length < chains.length,
      silent,
    });
  report();
  await Promise.all(
    chains.map(async chain => {
      try {
        found.set(chain, await suggestionsOf(chain, query, signal));
      } catch {
        silent.push(chain.name);
      }
      report();
    }),
  );
}

async function suggestionsOf(
  chain: Chain,
  query: string,
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const [items, named] = await Promise.all([
    quickResults(chain, query, signal),
    nameOn(chain, query, signal),
  ]);
  return [...named, ...items.map(item => resultOf(item, chain.id))]
    .slice(0, MAX_PER_CHAIN)
    .map(result => ({ ...result, chain }));
}

async function quickResults(
  chain: Chain,
  q: string,
  signal: AbortSignal,
): Promise<readonly Explorer['SearchItem'][]> {
  if (!canAnswer(chain, 'quickSearch')) return [];
  const query = { q, chain_id: chain.id };
  return (await answerOf(api.GET('/explorer/search/quick', { params: { query }, signal }))).data;
}

/** Address of a name such as alice.eth on a chain. */
async function nameOn(chain: Chain, name: string, signal?: AbortSignal): Promise<readonly SearchResult[]> {
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

/** URL of the page that a text names exactly, on one chain only; undefined if there is none or more than one. */
export async function exactPage(text: string): Promise<string | undefined> {
  const chains = (await configuredChains()).filter(hasAnswers);
  const pages = await Promise.all(chains.map(chain => exactPageOn(chain, text).catch(() => undefined)));
  const found = pages.filter(page => page !== undefined);
  return found.length === 1 ? found[0] : undefined;
}

async function exactPageOn(chain: Chain, q: string): Promise<string | undefined> {
  const [named] = await nameOn(chain, q);
  if (named !== undefined) return named.href;
  if (!canAnswer(chain, 'searchRedirect')) return undefined;
  const query = { q, chain_id: chain.id };
  const { data } = await answerOf(api.GET('/explorer/search/check-redirect', { params: { query } }));
  return data.type === null || data.parameter === null
    ? undefined
    : pageOf[data.type](chain.id, data.parameter);
}
