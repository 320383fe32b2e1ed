import type { Address } from 'viem';
import type { MarketReader } from '#indexer/index-reader.ts';
import type { PairRow } from '#indexer/read/tokens/markets.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { yieldTurn } from '#lib/clock.ts';
import type { IndexSource } from '../source/source.ts';
import { isLess, product, type Ratio } from './ratio.ts';

/** Dollars that a pool holds on its dollar's or wrapped coin's side, below which it gives no price. Decision 165. */
const LEAST_DEPTH: Ratio = { value: 1_000n, over: 1n };

/** Tokens of one statement: a database takes only so many parameters. */
const TOKENS_A_STATEMENT = 1_000;

/** The price of a token at a time, from one pool. */
export interface Quote {
  /** Dollars for a whole token. */
  readonly price: Ratio;
  /** Dollars on the other side of the pool; of two pools the shallower one's. */
  readonly depth: Ratio;
  /** Time of the reserves, in UTC milliseconds. */
  readonly pricedAt: number;
  readonly pair: PairRow;
  /** Dollars for the smallest unit of what the token is exchanged for. */
  readonly baseUnit: Ratio;
}

/** A token with the pools that can give its price. */
export interface QuotedToken {
  readonly decimals: number;
  readonly direct: readonly PairRow[];
  readonly throughWrapped: readonly PairRow[];
}

/** Prices of tokens at any time, in UTC milliseconds; null when no pool is deep enough then. */
export type QuoteAt = (token: QuotedToken, time: number) => Promise<Quote | null>;

/** Pools of tokens, and what they give. */
export interface Quotes {
  readonly tokenOf: (token: TokenRow) => QuotedToken | null;
  readonly quoteAt: QuoteAt;
  readonly dollar: TokenRow & { readonly decimals: number };
}

/** Finds the pools of tokens; null when the chain has no dollar with decimals. */
export async function quotesOf(
  { exchange, reader }: IndexSource,
  tokens: readonly TokenRow[],
  signal: AbortSignal,
): Promise<Quotes | null> {
  if (exchange === undefined || tokens.length === 0) return null;
  const { factory, usdToken, native } = exchange;
  const wrappedAddress = native?.wrapped;
  const addresses = tokens.map(({ address }) => address);
  const [known, direct, hops] = await Promise.all([
    reader.tokens(wrappedAddress === undefined ? [usdToken] : [usdToken, wrappedAddress]),
    poolsWith(
      usdToken,
      wrappedAddress === undefined ? addresses : [...new Set([...addresses, wrappedAddress])],
    ),
    wrappedAddress === undefined ? new Map<Address, PairRow[]>() : poolsWith(wrappedAddress, addresses),
  ]);
  const dollar = known.find(({ address }) => address === usdToken);
  if (dollar === undefined || dollar.decimals === null) return null;
  const wrapped = known.find(({ address }) => address === wrappedAddress);
  const tokenOf = (token: TokenRow): QuotedToken | null => {
    const { address, decimals } = token;
    if (decimals === null) return null;
    const canHop = address !== wrappedAddress && address !== usdToken;
    return {
      decimals,
      direct: direct.get(address) ?? [],
      throughWrapped: canHop ? (hops.get(address) ?? []) : [],
    };
  };
  const quoteAt = quoting(reader.markets, {
    dollarUnit: unitOf(dollar.decimals),
    wrapped: wrapped === undefined ? null : tokenOf(wrapped),
  });
  return { tokenOf, quoteAt, dollar: { ...dollar, decimals: dollar.decimals } };

  /** Pools of the factory by the token that they have beside the base. */
  async function poolsWith(base: Address, of: readonly Address[]): Promise<Map<Address, PairRow[]>> {
    const found: PairRow[] = [];
    for (let first = 0; first < of.length; first += TOKENS_A_STATEMENT) {
      if (first > 0) await yieldTurn(signal);
      const some = of.slice(first, first + TOKENS_A_STATEMENT);
      found.push(...(await reader.markets.pairs({ factory, base, tokens: some })));
    }
    return Map.groupBy(found, ({ token }) => token);
  }
}

/** Prices by the deeper of a token's direct pool and its way through the wrapped coin. */
function quoting(
  markets: MarketReader,
  { dollarUnit, wrapped }: { dollarUnit: Ratio; wrapped: QuotedToken | null },
): QuoteAt {
  /** By time: all tokens of an answer go through the same coin. */
  const ofWrapped = new Map<number, Promise<Quote | null>>();

  function wrappedAt(time: number): Promise<Quote | null> {
    if (wrapped === null) return Promise.resolve(null);
    const quote =
      ofWrapped.get(time) ?? deepest(markets, wrapped, { pairs: wrapped.direct, unit: dollarUnit, time });
    ofWrapped.set(time, quote);
    return quote;
  }

  async function hop(token: QuotedToken, time: number): Promise<Quote | null> {
    if (wrapped === null || token.throughWrapped.length === 0) return null;
    const coin = await wrappedAt(time);
    if (coin === null) return null;
    const unit = { value: coin.price.value, over: coin.price.over * 10n ** BigInt(wrapped.decimals) };
    const quote = await deepest(markets, token, { pairs: token.throughWrapped, unit, time });
    if (quote === null) return null;
    return {
      ...quote,
      depth: isLess(coin.depth, quote.depth) ? coin.depth : quote.depth,
      pricedAt: Math.max(coin.pricedAt, quote.pricedAt),
    };
  }

  return async (token, time) => {
    const [direct, through] = await Promise.all([
      deepest(markets, token, { pairs: token.direct, unit: dollarUnit, time }),
      hop(token, time),
    ]);
    if (direct === null || through === null) return direct ?? through;
    return isLess(direct.depth, through.depth) ? through : direct;
  };
}

/** The quote of the deepest of these pools that is deep enough and holds both tokens at that time. */
async function deepest(
  markets: MarketReader,
  { decimals }: QuotedToken,
  { pairs, unit, time }: { pairs: readonly PairRow[]; unit: Ratio; time: number },
): Promise<Quote | null> {
  let best: Quote | null = null;
  for (const pair of pairs) {
    const held = await markets.reservesAt(pair, time);
    if (held === null || held.token === 0n) continue;
    const depth = product(unit, held.base);
    if (isLess(depth, best?.depth ?? LEAST_DEPTH)) continue;
    const price = { value: depth.value * 10n ** BigInt(decimals), over: depth.over * held.token };
    best = { price, depth, pricedAt: held.timestamp, pair, baseUnit: unit };
  }
  return best;
}

/** Dollars for the smallest unit of a dollar token. */
function unitOf(decimals: number): Ratio {
  return { value: 1n, over: 10n ** BigInt(decimals) };
}
