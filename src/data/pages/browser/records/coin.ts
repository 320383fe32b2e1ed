import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { components } from '#generated/data-service/types.ts';
import { COIN_DECIMALS, wholeUnits } from '#pages/browser/amounts.ts';
import { api } from '../api.ts';

/** A chain as `GET /chains` describes it, with its native coin where that is told. */
export type ChainFacts = components['schemas']['ConfiguredChain'] & {
  readonly native?: { readonly symbol: string; readonly decimals: number };
};

let chains: Promise<readonly ChainFacts[]> | undefined;

/** The configured chains, requested once per page; none where the server does not answer. */
function configuredChains(): Promise<readonly ChainFacts[]> {
  chains ??= api.GET('/chains').then(
    ({ data }) => data?.chains ?? [],
    () => [],
  );
  return chains;
}

/** A configured chain; undefined until it is known. */
export function useChain(chainId: number): ChainFacts | undefined {
  const [chain, setChain] = useState<ChainFacts>();
  useEffect(() => {
    let isShown = true;
    configuredChains().then(all => isShown && setChain(all.find(({ id }) => id === chainId)));
    return () => {
      isShown = false;
    };
  }, [chainId]);
  return chain;
}

/** True where a back end of the chain answers an operation, named by its `operationId`. */
export function offers(chain: ChainFacts | undefined, operation: string): boolean {
  return chain?.backends.some(({ capabilities }) => capabilities.includes(operation)) ?? false;
}

/** An amount of the chain's native coin, exact, from its smallest unit. */
export function CoinAmount({ chainId, amount }: { chainId: number; amount: string | bigint }): VNode {
  const coin = useChain(chainId)?.native;
  return html`<span>${wholeUnits(amount, coin?.decimals ?? COIN_DECIMALS)} ${coin?.symbol}</span>`;
}
