import { useEffect, useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { shortened } from '#pages/browser/reference.ts';
import { api, type Explorer } from './api.ts';
import { type Chain, canAnswer } from './chains.ts';
import { addressPage, currentChainId, namedOn, searchedChains } from './exact-page.ts';
import { resultOf, type SearchResult } from './search-result.ts';
import { readSearch, type SearchText } from './search-text.ts';

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

/**
 * Asks every chain for matches once typing pauses. Results of each chain appear when it answers, those of the page's
 * chain first.
 */
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
  const search = readSearch(query);
  const chains = await searchedChains(search);
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
        found.set(chain, await suggestionsOf(chain, search, signal));
      } catch {
        silent.push(chain.name);
      }
      report();
    }),
  );
}

async function suggestionsOf(
  chain: Chain,
  search: SearchText,
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const { text, kind } = search;
  const [items, named] = await Promise.all([
    quickResults(chain, text, signal),
    kind === undefined ? namedOn(chain, text, signal) : [],
  ]);
  const results = [...named, ...items.map(item => resultOf(item, chain.id))].slice(0, MAX_PER_CHAIN);
  return (results.length === 0 ? unusedAddress(chain, search) : results).map(result => ({
    ...result,
    chain,
  }));
}

/** Page of a complete address without activity, on the chain that the search means. */
function unusedAddress(chain: Chain, search: SearchText): readonly SearchResult[] {
  const href = addressPage(search, chain.id);
  if (href === undefined || chain.id !== (search.chainId ?? currentChainId())) return [];
  return [{ name: shortened(search.text), kind: 'address', value: 'no activity', href }];
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
