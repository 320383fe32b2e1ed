import type { MarketReader } from '#indexer/index-reader.ts';
import type { BlockAtTime } from '#indexer/read/tokens/markets.ts';
import type { TokenRow } from '#indexer/read/tokens/tokens.ts';
import { DAY_MS, yieldTurn } from '#lib/clock.ts';
import { BackendError } from '../../port/backend-error.ts';
import type { IndexSource } from '../source/source.ts';
import { type Quote, type QuoteAt, type QuotedToken, quotesOf } from './quotes.ts';
import { product, type Ratio } from './ratio.ts';

/** Price of a token in dollars at a point in time, with figures from its pool. */
export interface Market {
  /** Dollars for a whole token. */
  price: Ratio;
  /** Time of the price, in UTC milliseconds. */
  pricedAt: number;
  /** Null when no pool was deep enough at that time. */
  priceDayBefore: Ratio | null;
  /** Dollars traded in the 24 hours up to that time, and in the 24 hours before; null for a dollar without a pair. */
  volume: Ratio | null;
  volumeDayBefore: Ratio | null;
  /** Value of the whole supply in dollars; null for an unknown supply. */
  cap: Ratio | null;
  /** Prices at the end of the UTC days with a trade in the token's pools, earliest first. */
  history(): Promise<{ day: number; price: Ratio }[]>;
}

const ONE: Ratio = { value: 1n, over: 1n };

/** Number of tokens priced before other requests get a turn. */
const TOKENS_A_TURN = 20;

interface MarketsQuery {
  /** UTC milliseconds; undefined for now. */
  readonly time?: number | undefined;
  /** Maximum number of tokens with a pool; unlimited when absent. */
  readonly most?: number;
  /** Cancels the pricing. */
  readonly signal: AbortSignal;
}

/**
 * Markets by token address, at a given time or now. Tokens without a market or without decimals are missing.
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
  const { dollar, quoteAt, tokenOf, wrapped } = quotes;
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
    const market =
      token.address === dollar.address ? await dollarMarket(asked, wrapped) : await marketOf(asked);
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

/** Market of the dollar token: one dollar, and the volume of its pair with the wrapped coin (Decision 280). */
async function dollarMarket(asked: MarketRequest, wrapped: QuotedToken | null): Promise<Market> {
  const quote = wrapped === null ? null : await asked.quoteAt(wrapped, asked.moment.time);
  return {
    price: ONE,
    pricedAt: asked.moment.time,
    priceDayBefore: ONE,
    ...(quote === null ? { volume: null, volumeDayBefore: null } : await volumesOf(asked, quote)),
    cap: await capOf(asked, ONE),
    history: async () => [],
  };
}

async function marketOf(asked: MarketRequest): Promise<Market | null> {
  const { quoted, moment, quoteAt } = asked;
  const quote = await quoteAt(quoted, moment.time);
  if (quote === null) return null;
  const { price, pricedAt } = quote;
  const [before, volumes] = await Promise.all([
    quoteAt(quoted, moment.time - DAY_MS),
    volumesOf(asked, quote),
  ]);
  return {
    price,
    pricedAt,
    priceDayBefore: before?.price ?? null,
    ...volumes,
    cap: await capOf(asked, price),
    history: () => historyOf(asked),
  };
}

/** Dollars traded in the pair of a quote. */
async function volumesOf(
  { markets, moment }: MarketRequest,
  { pair, baseUnit }: Quote,
): Promise<Record<'volume' | 'volumeDayBefore', Ratio>> {
  const [untilNow = 0n, untilDayBefore = 0n, untilTwoBefore = 0n] = await Promise.all(
    [0, 1, 2].map(days => markets.volumeUntil(pair, moment.time - days * DAY_MS)),
  );
  return {
    volume: product(baseUnit, untilNow - untilDayBefore),
    volumeDayBefore: product(baseUnit, untilDayBefore - untilTwoBefore),
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

/** Daily prices. Each is the price that a request for the end of that day would get. */
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
