import type { Address } from 'viem';
import type { MarketReader } from '#indexer/index-reader.ts';
import type { PairRow } from '#indexer/read/tokens/markets.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { yieldTurn } from '#lib/clock.ts';
import type { IndexSource } from '../source/source.ts';
import { isLess, product, type Ratio } from './ratio.ts';

/** Minimum value on a pool's dollar or wrapped-coin side, in dollars. Shallower pools give no price (Decision 165). */
const LEAST_DEPTH: Ratio = { value: 1_000n, over: 1n };

/** Part of a token's supply that a pool must hold to give a price, as one over this number (Decision 165). */
const SUPPLY_PER_POOL = 1_000_000n;

/** Tokens per statement, because databases limit the number of parameters. */
const TOKENS_A_STATEMENT = 1_000;

/** Price of a token at a point in time, from one pool. */
export interface Quote {
  /** Dollars for a whole token. */
  readonly price: Ratio;
  /** Dollars on the other side of the pool. For a path of two pools, the smaller value. */
  readonly depth: Ratio;
  /** Time of the reserves, in UTC milliseconds. */
  readonly pricedAt: number;
  readonly pair: PairRow;
  /** Dollars for the smallest unit of the token on the other side. */
  readonly baseUnit: Ratio;
}

/** A token and the pools that can price it. */
export interface QuotedToken {
  readonly decimals: number;
  /** Smallest units of the token that a pool must hold. */
  readonly leastHeld: bigint;
  readonly direct: readonly PairRow[];
  readonly throughWrapped: readonly PairRow[];
}

/** Returns a token's price at a time in UTC milliseconds; null when no pool was deep enough then. */
export type QuoteAt = (token: QuotedToken, time: number) => Promise<Quote | null>;

/** Pools of tokens and the prices they give. */
export interface Quotes {
  readonly tokenOf: (token: TokenRow) => QuotedToken | null;
  readonly quoteAt: QuoteAt;
  readonly dollar: TokenRow & { readonly decimals: number };
  /** Token that wraps the coin; null when the chain has none with known decimals. */
  readonly wrapped: QuotedToken | null;
}

/** Finds the pools of tokens. Null when the chain has no dollar token with known decimals. */
export async function quotesOf(
  { exchange, reader }: Pick<IndexSource, 'exchange' | 'reader'>,
  tokens: readonly TokenRow[],
  signal?: AbortSignal,
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
  const wrappedRow = known.find(({ address }) => address === wrappedAddress);
  const tokenOf = (token: TokenRow): QuotedToken | null => {
    const { address, decimals, totalSupply } = token;
    const isConfigured = address === wrappedAddress || address === usdToken;
    if (decimals === null || (totalSupply === null && !isConfigured)) return null;
    const leastHeld = isConfigured ? 1n : 1n + (totalSupply ?? 0n) / SUPPLY_PER_POOL;
    return {
      decimals,
      leastHeld,
      direct: direct.get(address) ?? [],
      throughWrapped: isConfigured ? [] : (hops.get(address) ?? []),
    };
  };
  const wrapped = wrappedRow === undefined ? null : tokenOf(wrappedRow);
  const quoteAt = quoting(reader.markets, { dollarUnit: unitOf(dollar.decimals), wrapped });
  return { tokenOf, quoteAt, dollar: { ...dollar, decimals: dollar.decimals }, wrapped };

  /** Pools of the factory, grouped by the token paired with `base`. */
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

/** Prices a token by its direct pool or its path through the wrapped coin, whichever is deeper. */
function quoting(
  markets: MarketReader,
  { dollarUnit, wrapped }: { dollarUnit: Ratio; wrapped: QuotedToken | null },
): QuoteAt {
  /** Quotes of the wrapped coin by time, shared by all tokens of an answer. */
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

/** Quote of the deepest pool that passes the minimum depth and holds enough of the token at that time. */
async function deepest(
  markets: MarketReader,
  { decimals, leastHeld }: QuotedToken,
  { pairs, unit, time }: { pairs: readonly PairRow[]; unit: Ratio; time: number },
): Promise<Quote | null> {
  let best: Quote | null = null;
  for (const pair of pairs) {
    const held = await markets.reservesAt(pair, time);
    if (held === null || held.token < leastHeld) continue;
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
