import type { MarketReader } from '#indexer/index-reader.ts';
import type { BlockAtTime } from '#indexer/read/tokens/markets.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { DAY_MS, yieldTurn } from '#lib/clock.ts';
import { BackendError } from '../../port/backend-error.ts';
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

/** Tokens that are priced before other requests have a turn. */
const TOKENS_A_TURN = 20;

interface MarketsQuery {
  /** UTC milliseconds; undefined for now. */
  readonly time?: number | undefined;
  /** Most tokens with a pool; undefined for any number. */
  readonly most?: number;
  /** Ends the pricing. */
  readonly signal: AbortSignal;
}

/**
 * Markets of tokens by the tokens' addresses, at a time or now; a token that has none, or does not tell its decimals, is
 * not among them.
 * @throws BackendError `rejected` when more than `most` of them have a pool.
 */
export async function marketsOf(
  source: IndexSource,
  tokens: readonly TokenRow[],
  { time, most = Number.POSITIVE_INFINITY, signal }: MarketsQuery,
): Promise<Map<string, Market>> {
  const { markets } = source.reader;
  const [moment, quotes] = await Promise.all([markets.momentOf(time), quotesOf(source, tokens, signal)]);
  const found = new Map<string, Market>();
  if (moment === null || quotes === null) return found;
  const { dollar, quoteAt, tokenOf } = quotes;
  const priceable = tokens.flatMap(token => {
    const quoted = tokenOf(token);
    return quoted === null || (token.address !== dollar.address && !hasPool(quoted))
      ? []
      : [{ token, quoted }];
  });
  if (priceable.length > most) throw tooMany(most);
  for (const [at, { token, quoted }] of priceable.entries()) {
    if (at % TOKENS_A_TURN === 0) await yieldTurn(signal);
    const asked = { markets, token, quoted, moment, quoteAt };
    const market = token.address === dollar.address ? await dollarMarket(asked) : await marketOf(asked);
    if (market !== null) found.set(token.address, market);
  }
  return found;
}

function hasPool({ direct, throughWrapped }: QuotedToken): boolean {
  return direct.length > 0 || throughWrapped.length > 0;
}

function tooMany(most: number): BackendError {
  const message = `more than ${most} tokens would have to be priced: ask for fewer owners, tokens or rows`;
  return new BackendError('rejected', 'bad_input', message);
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
