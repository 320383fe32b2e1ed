import { useEffect, useState } from 'preact/hooks';
import { api, type Insights } from '../api.ts';
import { offers, useChain } from './coin.ts';

type Price = Insights['TokenPrice'];

/**
 * Token prices in US dollars by lower-case address. Empty when no back end of the chain has prices, because a page is
 * complete without them.
 */
export function usePrices(chainId: number, addresses: readonly string[]): ReadonlyMap<string, Price> {
  const [prices, setPrices] = useState<ReadonlyMap<string, Price>>(new Map());
  const isOffered = offers(useChain(chainId), 'getTokenPrices');
  const names = [...new Set(addresses.map(address => address.toLowerCase()))].sort().join();
  useEffect(() => {
    if (!isOffered || names === '') return;
    const leaving = new AbortController();
    askPrices(chainId, names.split(','), leaving.signal).then(
      setPrices,
      () => undefined, // The page omits the values.
    );
    return () => leaving.abort();
  }, [chainId, names, isOffered]);
  return prices;
}

async function askPrices(chainId: number, address: string[], signal: AbortSignal) {
  const { data } = await api.GET('/insights/v1/tokens/price', {
    params: {
      query: { chain_id: [chainId], address, include_historical_prices: 'true', include_holders: 'false' },
    },
    signal,
  });
  return new Map((data?.data ?? []).map(price => [price.address.toLowerCase(), price]));
}
