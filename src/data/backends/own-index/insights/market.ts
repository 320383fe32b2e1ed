import type { MarketReader } from '#indexer/index-reader.ts';
import type { BlockAtTime } from '#indexer/read/tokens/markets.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { IndexSource } from '../source/source.ts';
import { type QuoteAt, type QuotedToken, quotesOf } from './quotes.ts';
import { product, type Ratio } from './ratio.ts';

/** Price of a token in dollars at a moment, with what its pool tells besides. */
export interface Market {
  /** Dollars for a whole token. */
  price: Ratio;
  /** Time of the price, in UTC milliseconds. */
  pricedAt: number;
  /** Null when no pool was deep enough then. */
  priceDayBefore: Ratio | null;
  /** Dollars of the 24 hours up to the moment, and of the 24 hours before these; null for the dollar itself. */
  volume: Ratio | null;
  volumeDayBefore: Ratio | null;
  /** Value of the whole supply, in dollars; null when the supply is not known. */
  cap: Ratio | null;
  /** Prices at the end of the days in UTC on which the token's pools had a trade, the earliest first. */
  history(): Promise<{ day: number; price: Ratio }[]>;
}

const ONE: Ratio = { value: 1n, over: 1n };

/**
 * Markets of tokens at a time in UTC milliseconds, or now; a token that has none, or does not tell its decimals, is not
 * among them. By the tokens' addresses.
 */
export async function marketsOf(
  source: IndexSource,
  tokens: readonly TokenRow[],
  time: number | undefined,
): Promise<Map<string, Market>> {
  const { markets } = source.reader;
  const [moment, quotes] = await Promise.all([markets.momentOf(time), quotesOf(source, tokens)]);
  if (moment === null || quotes === null) return new Map();
  const found = new Map<string, Market>();
  for (const token of tokens) {
    const quoted = quotes.tokenOf(token);
    if (quoted === null) continue;
    const asked = { markets, token, quoted, moment, quoteAt: quotes.quoteAt };
    const market =
      token.address === quotes.dollar.address ? await dollarMarket(asked) : await marketOf(asked);
    if (market !== null) found.set(token.address, market);
  }
  return found;
}

interface MarketRequest {
  readonly markets: MarketReader;
  readonly token: TokenRow;
  readonly quoted: QuotedToken;
  readonly moment: BlockAtTime;
  readonly quoteAt: QuoteAt;
}

/** A dollar is worth one at any time, whatever is traded for it. */
async function dollarMarket(asked: MarketRequest): Promise<Market> {
  return {
    price: ONE,
    pricedAt: asked.moment.time,
    priceDayBefore: ONE,
    volume: null,
    volumeDayBefore: null,
    cap: await capOf(asked, ONE),
    history: async () => [],
  };
}

async function marketOf(asked: MarketRequest): Promise<Market | null> {
  const { markets, quoted, moment, quoteAt } = asked;
  const quote = await quoteAt(quoted, moment.time);
  if (quote === null) return null;
  const { pair, baseUnit, price, pricedAt } = quote;
  const [before, ...volumes] = await Promise.all([
    quoteAt(quoted, moment.time - DAY_MS),
    ...[0, 1, 2].map(days => markets.volumeUntil(pair, moment.time - days * DAY_MS)),
  ]);
  const [untilNow = 0n, untilDayBefore = 0n, untilTwoBefore = 0n] = volumes;
  return {
    price,
    pricedAt,
    priceDayBefore: before?.price ?? null,
    volume: product(baseUnit, untilNow - untilDayBefore),
    volumeDayBefore: product(baseUnit, untilDayBefore - untilTwoBefore),
    cap: await capOf(asked, price),
    history: () => historyOf(asked),
  };
}

async function capOf({ markets, token, quoted, moment }: MarketRequest, price: Ratio): Promise<Ratio | null> {
  const supply = moment.isHead
    ? token.totalSupply
    : await markets.totalSupplyAt(token.address, moment.blockNumber);
  return supply === null
    ? null
    : { value: price.value * supply, over: price.over * 10n ** BigInt(quoted.decimals) };
}

/** By the same rule at the end of each day, so that a day is what its end asked as a moment is. */
async function historyOf({ markets, quoted, moment, quoteAt }: MarketRequest) {
  const traded = await Promise.all(
    [...quoted.direct, ...quoted.throughWrapped].map(pair => markets.tradedDays(pair, moment.time)),
  );
  const days = [...new Set(traded.flat())].sort((a, b) => a - b);
  const prices = await Promise.all(
    days.map(async day => {
      const quote = await quoteAt(quoted, Math.min(moment.time, (day + 1) * DAY_MS - 1));
      return quote === null ? [] : [{ day, price: quote.price }];
    }),
  );
  return prices.flat();
}
