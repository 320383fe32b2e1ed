import { useEffect, useRef, useState } from 'preact/hooks';
import type { components } from '#generated/data-service/types.ts';
import type { Loading, Renewal } from '#pages/browser/answer.ts';
import { type ChainFeed, chainFeed, headOf, renewChains, watchChains } from './chain-feed.ts';

type Chain = components['schemas']['ConfiguredChain'];

/** Pause between two requests for a record that blocks change, when nothing says whether they did. */
const RENEW_MS = 15_000;

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

/** Renewal of a record that changes when its address, token or transaction has new activity. */
export function useActivity(chainId: number, kind: 'address' | 'token' | 'transaction'): Renewal {
  const head = useHead(chainId);
  // Someone waits for a transaction. The other records are many, and change with few of the blocks.
  return kind === 'transaction' ? { everyMs: RENEW_MS, version: head } : { everyMs: RENEW_MS };
}

/** Configured chains once they are known; empty when the server does not answer. */
export function configuredChains(): Promise<readonly Chain[]> {
  return new Promise(resolve => {
    const stop = watchChains(answered);
    function answered() {
      const { answer, problem } = chainFeed();
      if (answer === undefined && problem === undefined) return;
      stop();
      resolve(answer?.data.chains ?? []);
    }
    answered();
  });
}

/** Part of the shared state. Renders again only when the part is another one. */
function useFeed<Part>(partOf: (feed: ChainFeed) => Part): Part {
  const [, setRound] = useState(0);
  const part = partOf(chainFeed());
  const shown = useRef({ partOf, part });
  shown.current = { partOf, part };
  useEffect(() => {
    const renew = () => {
      if (shown.current.partOf(chainFeed()) !== shown.current.part) setRound(round => round + 1);
    };
    const stop = watchChains(renew);
    renew();
    return stop;
  }, []);
  return part;
}

function chainOf({ answer }: ChainFeed, chainId: number): Chain | undefined {
  return answer?.data.chains.find(({ id }) => id === chainId);
}
