import { type Address, ethAddress } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import type { InsightsAnswers, InsightsAsk, InsightsRequestOf } from '../../port/insights-backend.ts';
import { dateText } from '../parts/format.ts';
import { resolveAddress } from '../source/names.ts';
import { assertWhole, type IndexSource } from '../source/source.ts';
import { type Market, marketsOf } from './market.ts';
import { numberOf, percentChange, type Ratio } from './ratio.ts';

type Query = InsightsRequestOf<'getTokenPrices'>['query'];

/** Smallest `timestamp` that is in milliseconds instead of seconds (Decision 89). */
const FIRST_IN_MS = 10 ** 11;

/** Tokens by symbol, and token prices from pairs on the chain itself if an exchange is configured. */
export function priceAnswers(source: IndexSource) {
  return {
    async lookUpTokens({ query }, { signal }) {
      assertWhole(source);
      const tokens = mostHeldFirst(await source.reader.tokensWithSymbols(query.symbol));
      const markets = await marketsOf(source, tokens, { signal });
      return tokens.map(token => foundToken(source, token, markets.get(token.address)));
    },
    // Without an exchange the operation is absent, so that the next back end may answer.
    ...(source.exchange === undefined
      ? {}
      : { getTokenPrices: (request, ask) => tokenPrices(source, request, ask) }),
  } satisfies InsightsAnswers;
}

async function tokenPrices(
  source: IndexSource,
  { query }: InsightsRequestOf<'getTokenPrices'>,
  { signal }: InsightsAsk,
): Promise<InsightsSchemas['TokenPrice'][]> {
  assertWhole(source);
  const asked = await tokensOf(source, query);
  const rows = [...new Map(asked.map(({ row }) => [row.address, row])).values()];
  const markets = await marketsOf(source, rows, { time: timeOf(query.timestamp), signal });
  const prices = asked.flatMap(token => {
    const market = markets.get(token.row.address);
    return market === undefined ? [] : [tokenPrice(source, { token, market, query })];
  });
  return Promise.all(prices);
}

/** Requested token. For the native coin, `row` is the token that wraps it. */
interface AskedToken {
  readonly row: TokenRow;
  readonly address: Address;
  readonly symbol: string | null;
  readonly isNative: boolean;
}

/** True for addresses that represent the native coin in place of a token. */
export function isNativeAddress(address: Address): boolean {
  return address === ZERO_ADDRESS || address === ethAddress;
}

/**
 * Requested tokens in request order, without duplicates. Tokens with the same symbol are sorted by holders, most first.
 */
async function tokensOf(source: IndexSource, { address = [], symbol = [] }: Query): Promise<AskedToken[]> {
  const native = source.exchange?.native;
  const addresses = await Promise.all(address.map(text => resolveAddress(source, text)));
  const tokenOf = (one: Address) => (native !== undefined && isNativeAddress(one) ? native.wrapped : one);
  const [known, named] = await Promise.all([
    source.reader.tokens([...new Set(addresses.map(tokenOf))]),
    source.reader.tokensWithSymbols(symbol),
  ]);
  const inOrder = addresses.flatMap(one => {
    const row = known.find(token => token.address === tokenOf(one));
    if (row === undefined) return [];
    const isNative = row.address !== one;
    return [{ row, address: one, symbol: isNative ? (native?.symbol ?? null) : row.symbol, isNative }];
  });
  const bySymbol = named.map(row => ({ row, address: row.address, symbol: row.symbol, isNative: false }));
  return [...new Map([...inOrder, ...bySymbol].map(token => [token.address, token])).values()];
}

/** Sorts tokens of all symbols by holders, most first (Decision 88). */
function mostHeldFirst(tokens: readonly TokenRow[]): TokenRow[] {
  return tokens.toSorted((a, b) => b.holderCount - a.holderCount || (a.address < b.address ? -1 : 1));
}

function timeOf(timestamp: number | undefined): number | undefined {
  return timestamp === undefined || timestamp >= FIRST_IN_MS ? timestamp : timestamp * 1_000;
}

async function tokenPrice(
  source: IndexSource,
  { token, market, query }: { token: AskedToken; market: Market; query: Query },
): Promise<InsightsSchemas['TokenPrice']> {
  const { volume, volumeDayBefore, cap } = market;
  return {
    chain_id: source.chainId,
    address: token.address,
    ...(token.symbol === null ? {} : { symbol: token.symbol }),
    ...priced(market.price),
    percent_change_24h: changeOf(market),
    volume_24h_usd: volume === null ? null : numberOf(volume),
    volume_change_24h:
      volume === null || volumeDayBefore === null || volumeDayBefore.value === 0n
        ? null
        : percentChange(volume, volumeDayBefore),
    // The coin's supply is unknown; only part of it is wrapped.
    market_cap_usd: cap === null || token.isNative ? null : numberOf(cap),
    ...(query.include_historical_prices === 'true'
      ? { historical_prices: await historicalPrices(market) }
      : {}),
    ...(query.include_holders === 'true' && !token.isNative ? { holders: token.row.holderCount } : {}),
  };
}

async function historicalPrices({ history }: Market): Promise<InsightsSchemas['HistoricalPrice'][]> {
  const days = await history();
  return days.map(({ day, price }) => ({ date: dateText(day), ...priced(price) }));
}

function foundToken(
  { chainId }: IndexSource,
  { address, name, symbol, decimals, totalSupply }: TokenRow,
  market: Market | undefined,
): InsightsSchemas['FoundToken'] {
  return {
    chain_id: chainId,
    token_address: address,
    ...(name === null ? {} : { name }),
    ...(symbol === null ? {} : { symbol }),
    ...(decimals === null ? {} : { decimals }),
    ...(market === undefined ? {} : { price_data: priceData(market, { totalSupply, decimals }) }),
  };
}

/** Converts a market to the API contract's price data, without the value of a balance. */
export function priceData(
  market: Market,
  { totalSupply, decimals }: Pick<TokenRow, 'totalSupply' | 'decimals'>,
): InsightsSchemas['PriceData'] {
  const change = changeOf(market);
  return {
    price_usd: numberOf(market.price),
    ...(market.volume === null ? {} : { volume_24h_usd: numberOf(market.volume) }),
    ...(market.cap === null ? {} : { market_cap_usd: numberOf(market.cap) }),
    ...(totalSupply === null || decimals === null
      ? {}
      : { total_supply: numberOf({ value: totalSupply, over: 10n ** BigInt(decimals) }) }),
    ...(change === null ? {} : { percent_change_24h: change }),
    price_timestamp: new Date(market.pricedAt).toISOString(),
  };
}

function priced(price: Ratio): { price_usd: number; price_usd_cents: number } {
  return {
    price_usd: numberOf(price),
    price_usd_cents: numberOf({ value: price.value * 100n, over: price.over }),
  };
}

function changeOf({ price, priceDayBefore }: Market): number | null {
  return priceDayBefore === null ? null : percentChange(price, priceDayBefore);
}
