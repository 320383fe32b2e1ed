import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { COIN_DECIMALS, wholeUnits } from '#pages/browser/amounts.ts';
import { type Chain, canAnswer, configuredChains } from '../chains.ts';

/** A chain as `GET /chains` describes it, with its native coin where that is told. */
export type ChainFacts = Chain & {
  readonly native?: { readonly symbol: string; readonly decimals: number };
};

const RETRY_MS = 5_000;

/** A configured chain; undefined until it is known. Asks again while the server does not answer. */
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

/** True where a back end of the chain answers an operation, named by its `operationId`. */
export function offers(chain: ChainFacts | undefined, operation: string): boolean {
  return chain !== undefined && canAnswer(chain, operation);
}

/** An amount of the chain's native coin, exact, from its smallest unit. */
export function CoinAmount({ chainId, amount }: { chainId: number; amount: string | bigint }): VNode {
  const coin = useChain(chainId)?.native;
  return html`<span>${wholeUnits(amount, coin?.decimals ?? COIN_DECIMALS)} ${coin?.symbol}</span>`;
}

/** Symbol of the chain's native coin. */
export function CoinSymbol({ chainId }: { chainId: number }): VNode {
  return html`<span>${useChain(chainId)?.native?.symbol ?? 'coin'}</span>`;
}
