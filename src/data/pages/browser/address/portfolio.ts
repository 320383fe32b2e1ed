import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { COIN_DECIMALS, decimalsIn } from '#pages/browser/amounts.ts';
import { api, type Explorer } from '../api.ts';
import { useChain } from '../records/coin.ts';
import { dollars, worth } from '../records/figures.ts';

type Details = Explorer['AddressDetails'];
type Holding = Explorer['AddressToken'];

/** Pages of tokens that are added up. A Blockscout lists those of the highest value first. */
const MOST_PAGES = 5;

/** Value of the coins and tokens of an address at today's rates, and how many tokens it counts (Decision 422). */
export function PortfolioValue({ chainId, address }: { chainId: number; address: Details }): VNode {
  const [tokens, setTokens] = useState<PricedTokens>();
  const decimals = useChain(chainId)?.native?.decimals ?? COIN_DECIMALS;
  useEffect(() => {
    const leaving = new AbortController();
    pricedTokens(chainId, address.hash, leaving.signal).then(setTokens, () => undefined);
    return () => leaving.abort();
  }, [chainId, address.hash]);
  if (tokens === undefined) return html`<span>…</span>`;
  const { coin_balance: coins, exchange_rate: rate } = address;
  const ofCoins = coins === null || rate === null ? 0 : worth(coins, decimals, Number(rate));
  const count = `${tokens.count} ${tokens.count === 1 ? 'token' : 'tokens'}`;
  return html`<span>
    ${dollars(ofCoins + tokens.value)}
    <span class="small"> coins and <a href="?tab=tokens">${count} with a price</a>${tokens.isCut && ', of the first 250'}, at today’s rates</span>
  </span>`;
}

interface PricedTokens {
  readonly value: number;
  readonly count: number;
  /** True if there are more tokens than were looked at. */
  readonly isCut: boolean;
}

/** Adds up the tokens of an address until a page ends with one that has no price. */
async function pricedTokens(chainId: number, address: string, signal: AbortSignal): Promise<PricedTokens> {
  let cursor: string | undefined;
  let [value, count] = [0, 0];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { data } = await api.GET('/explorer/addresses/{address_hash}/tokens', {
      params: {
        path: { address_hash: address },
        query: { chain_id: chainId, type: ['ERC-20'], ...(cursor !== undefined && { cursor }) },
      },
      signal,
    });
    const worths = (data?.items ?? []).map(held => worthOf(held));
    for (const one of worths) {
      value += one ?? 0;
      count += one === undefined ? 0 : 1;
    }
    cursor = data?.next_page_params?.cursor;
    if (cursor === undefined || worths.at(-1) === undefined) return { value, count, isCut: false };
  }
  return { value, count, isCut: true };
}

/** Value of a token balance in US dollars; undefined without a price, and for what its back end calls a scam. */
export function worthOf({ token, token_id, value }: Holding, given?: number): number | undefined {
  return token_id === null ? worthOfUnits(token, value, given) : undefined;
}

/** Value of units of a token in US dollars; undefined without a price, and for what its back end calls a scam. */
export function worthOfUnits(token: PricedToken | null, units: string, given?: number): number | undefined {
  const rate = given ?? (token?.exchange_rate == null ? undefined : Number(token.exchange_rate));
  const decimals = decimalsIn(token?.decimals);
  const isCounted = token !== null && token.reputation === undefined;
  if (!isCounted || decimals === undefined || rate === undefined || !(rate > 0)) return undefined;
  const found = worth(units, decimals, rate);
  return Number.isFinite(found) ? found : undefined;
}

/** The same in records of tokens and of balances. */
type PricedToken = Pick<Explorer['Token'], 'decimals' | 'exchange_rate' | 'reputation'>;
