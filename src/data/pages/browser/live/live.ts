import { useEffect, useRef, useState } from 'preact/hooks';
import type { components } from '#generated/data-service/types.ts';
import type { Loading, Renewal } from '#pages/browser/answer.ts';
import { headOf, type PageActivity, type Reorganisation } from './live-state.ts';
import { type PageFeed, pageFeed, renewChains, watchActivity, watchChains } from './page-feed.ts';

type Chain = components['schemas']['ConfiguredChain'];

/** Pause between two requests for a record that blocks change, when nothing says whether they did. */
const RENEW_MS = 15_000;
const NO_ACTIVITY: PageActivity = { count: 0, latest: [] };

/** Configured chains with their state, renewed while the page is visible. */
export function useChains(): Loading<{ readonly chains: readonly Chain[] }> {
  const { answer, problem } = useFeed(feed => feed);
  return { answer, problem, isOver: false, reload: renewChains };
}

/** Number of the latest block of a chain; undefined while it is unknown. */
export function useHead(chainId: number): number | undefined {
  return useFeed(feed => {
    const chain = chainOf(feed, chainId);
    return chain && headOf(chain);
  });
}

/** A chain with the state of its back ends; undefined while it is unknown. */
export function useChainState(chainId: number): Chain | undefined {
  return useFeed(feed => chainOf(feed, chainId));
}

/** Renewal of a record that may change with each block, and only then. */
export function useBlockRenewal(chainId: number): Renewal {
  const isStreamed = useFeed(({ streamed }) => streamed !== undefined);
  const resets = useResets(chainId);
  const head = useHead(chainId);
  return isStreamed ? { version: resets } : { everyMs: RENEW_MS, version: head };
}

/** Activity of an address, token or transaction while the page is open, and the renewal of its record. */
export function useActivity(
  chainId: number,
  kind: 'address' | 'token' | 'transaction',
  hash: string,
): { readonly activity: PageActivity; readonly renewal: Renewal } {
  const watch = `${chainId}:${kind}:${hash.toLowerCase()}`;
  useEffect(() => watchActivity(watch), [watch]);
  const isStreamed = useFeed(({ streamed }) => streamed?.includes(watch) ?? false);
  const activity = useFeed(feed => feed.activity.get(watch)) ?? NO_ACTIVITY;
  const resets = useResets(chainId);
  const head = useHead(chainId);
  if (isStreamed) return { activity, renewal: { version: `${resets} ${activity.count}` } };
  // A reader waits for a transaction. The other records are many, and change with few of the blocks.
  return { activity, renewal: { everyMs: RENEW_MS, ...(kind === 'transaction' && { version: head }) } };
}

/** Reorganisation of a chain while the page is open; undefined without one. */
export function useReorganisations(): ReadonlyMap<number, Reorganisation> {
  return useFeed(({ reorganisations }) => reorganisations);
}

function useResets(chainId: number): number {
  return useFeed(({ resets }) => resets.get(chainId) ?? 0);
}

/** Configured chains once they are known; empty when the server does not answer. */
export function configuredChains(): Promise<readonly Chain[]> {
  return new Promise(resolve => {
    const stop = watchChains(answered);
    function answered() {
      const { answer, problem } = pageFeed();
      if (answer === undefined && problem === undefined) return;
      stop();
      resolve(answer?.data.chains ?? []);
    }
    answered();
  });
}

/** Part of the shared state. Renders again only when the part is another one. */
function useFeed<Part>(partOf: (feed: PageFeed) => Part): Part {
  const [, setRound] = useState(0);
  const part = partOf(pageFeed());
  const shown = useRef({ partOf, part });
  shown.current = { partOf, part };
  useEffect(() => {
    const renew = () => {
      if (shown.current.partOf(pageFeed()) !== shown.current.part) setRound(round => round + 1);
    };
    const stop = watchChains(renew);
    renew();
    return stop;
  }, []);
  return part;
}

function chainOf({ answer }: PageFeed, chainId: number): Chain | undefined {
  return answer?.data.chains.find(({ id }) => id === chainId);
}
