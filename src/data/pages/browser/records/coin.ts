import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { COIN_DECIMALS } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { type Chain, canAnswer } from '../chains.ts';
import { configuredChains } from '../live/live.ts';
import { Units, Worth } from './figures.ts';

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

/** Amount of the chain's native coin, given in its smallest unit, with its value in dollars if there is a rate. */
export function CoinAmount({
  chainId,
  amount,
  rate,
}: {
  chainId: number;
  amount: string | bigint;
  /** Price of one coin in US dollars. */
  rate?: string | null;
}): VNode {
  const coin = useChain(chainId)?.native;
  const decimals = coin?.decimals ?? COIN_DECIMALS;
  return html`<span class="valued"><span>${h(Units, { amount, decimals })} ${coin?.symbol}</span> ${h(Worth, { amount, decimals, rate })}</span>`;
}

/** Symbol of the chain's native coin. */
export function CoinSymbol({ chainId }: { chainId: number }): VNode {
  return html`<span>${useChain(chainId)?.native?.symbol ?? 'coin'}</span>`;
}
