import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { COIN_DECIMALS, wholeUnits } from '#pages/browser/amounts.ts';
import { type Chain, canAnswer, configuredChains } from '../chains.ts';

/** A chain of `GET /chains`, with its native coin if known. */
export type ChainFacts = Chain & {
  readonly native?: { readonly symbol: string; readonly decimals: number };
};

const RETRY_MS = 5_000;

/** Configured chain; undefined until it is known. Retries while the server does not answer. */
export function useChain(chainId: number): ChainFacts | undefined {
  const [chain, setChain] = useState<ChainFacts>();
  useEffect(() => {
    let isShown = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const find = async () => {
      const all = await configuredChains();
      if (!isShown) return;
      setChain(all.find(({ id }) => id === chainId));
      if (all.length === 0) timer = setTimeout(find, RETRY_MS);
    };
    find();
    return () => {
      isShown = false;
      clearTimeout(timer);
    };
  }, [chainId]);
  return chain;
}

/** True when a back end of the chain supports the operation, given by its `operationId`. */
export function offers(chain: ChainFacts | undefined, operation: string): boolean {
  return chain !== undefined && canAnswer(chain, operation);
}

/** Exact amount of the chain's native coin, given in its smallest unit. */
export function CoinAmount({ chainId, amount }: { chainId: number; amount: string | bigint }): VNode {
  const coin = useChain(chainId)?.native;
  return html`<span>${wholeUnits(amount, coin?.decimals ?? COIN_DECIMALS)} ${coin?.symbol}</span>`;
}

/** Symbol of the chain's native coin. */
export function CoinSymbol({ chainId }: { chainId: number }): VNode {
  return html`<span>${useChain(chainId)?.native?.symbol ?? 'coin'}</span>`;
}
