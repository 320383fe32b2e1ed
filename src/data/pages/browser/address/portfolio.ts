import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { COIN_DECIMALS, decimalsIn } from '#pages/browser/amounts.ts';
import { Awaited, type Reply, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { api, type Explorer } from '../api.ts';
import { configuredChains } from '../live/live.ts';
import { useChain } from '../records/coin.ts';
import { dollars, worth } from '../records/figures.ts';
import { pageQuery, type RecordCursor } from '../records/record-list.ts';

type Details = Explorer['AddressDetails'];
type Holding = Explorer['AddressToken'];

/** Pages of tokens that are added up. */
const MOST_PAGES = 5;

/** Value of the coins and tokens of an address at today's rates, and how many tokens it counts (Decision 422). */
export function PortfolioValue({ chainId, address }: { chainId: number; address: Details }): VNode {
  const tokens = useAnswer(signal => pricedTokens(chainId, address.hash, signal), [chainId, address.hash]);
  const decimals = useChain(chainId)?.native?.decimals ?? COIN_DECIMALS;
  const { coin_balance: coins, exchange_rate: rate } = address;
  const ofCoins = coins === null || rate === null ? 0 : worth(coins, decimals, Number(rate));
  return h(Awaited<PricedTokens>, {
    loading: tokens,
    skeleton: '…',
    children: ({ value, count, isCut }) => html`<span>
      ${dollars(ofCoins + value)}
      <span class="small"> coins and <a href="?tab=tokens">${count} ${count === 1 ? 'token' : 'tokens'} with a price</a>${isCut && ', of the first 250'}, at today’s rates</span>
    </span>`,
  });
}

interface PricedTokens {
  readonly value: number;
  readonly count: number;
  /** True if there are more tokens than were looked at. */
  readonly isCut: boolean;
}

/** Adds up the tokens of an address. A list by value is read until a page ends with one that has no price. */
async function pricedTokens(
  chainId: number,
  address: string,
  signal: AbortSignal,
): Promise<Reply<PricedTokens>> {
  const path = { address_hash: address };
  let position: RecordCursor | undefined;
  let [value, count] = [0, 0];
  for (let page = 1; ; page += 1) {
    const query = { ...pageQuery(chainId, position), type: ['ERC-20' as const] };
    const reply = await api.GET('/explorer/addresses/{address_hash}/tokens', {
      params: { path, query },
      signal,
    });
    const { data, error, response } = reply;
    if (data === undefined) return { error, response };
    const worths = data.items.map(held => worthOf(held));
    for (const one of worths) {
      value += one ?? 0;
      count += one === undefined ? 0 : 1;
    }
    position = data.next_page_params ?? undefined;
    const isOver =
      position === undefined || (worths.at(-1) === undefined && (await isByValue(chainId, response)));
    if (isOver || page === MOST_PAGES) return { data: { value, count, isCut: !isOver }, response };
  }
}

/** True for an answer of a Blockscout, which lists the tokens of the highest value first. Others have another order. */
async function isByValue(chainId: number, { headers }: Response): Promise<boolean> {
  const chain = (await configuredChains()).find(({ id }) => id === chainId);
  const backend = chain?.backends.find(({ name }) => name === headers.get('X-Backend'));
  return backend?.kind === 'blockscout';
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
