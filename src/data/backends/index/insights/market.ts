import type { MarketReader, Moment, PairRow, Reserves } from '../../../../indexer/reader/market-reader.ts';
import type { TokenRow } from '../../../../indexer/reader/tokens.ts';
import type { IndexSource } from '../source.ts';
import type { Ratio } from './ratio.ts';

/** What a token costs in dollars at a moment, from the pair with the most dollars in it. */
export interface Market {
  /** The newest block's, or an earlier one. */
  moment: Moment;
  pair: PairRow;
  /** Dollars a whole token. */
  price: Ratio;
  /** When it came to be, in UTC milliseconds. */
  pricedAt: number;
  /** Null when the pair held nothing then. */
  priceDayBefore: Ratio | null;
  /** Dollars of the 24 hours up to the moment, and of the 24 hours before these. */
  volume: Ratio;
  volumeDayBefore: Ratio;
  /** Value of the whole supply, in dollars; null when the supply is not known. */
  cap: Ratio | null;
  priceOf(reserves: Reserves): Ratio | null;
}

const DAY_MS = 86_400_000;

/**
 * Markets of tokens at a time in UTC milliseconds, or now; a token that has none, or does not tell its decimals, is not
 * among them. By the tokens' addresses.
 */
export async function marketsOf(
  source: IndexSource,
  tokens: readonly TokenRow[],
  time: number | undefined,
): Promise<Map<string, Market>> {
  const { exchange, reader } = source;
  if (exchange === undefined || tokens.length === 0) return new Map();
  const [moment, [dollar], pairs] = await Promise.all([
    reader.markets.momentOf(time),
    reader.tokens([exchange.usdToken]),
    reader.markets.pairs({ ...exchange, tokens: tokens.map(({ address }) => address) }),
  ]);
  if (moment === null || dollar === undefined || dollar.decimals === null) return new Map();
  const found = new Map<string, Market>();
  for (const token of tokens) {
    const own = pairs.filter(pair => pair.token === token.address);
    const market = await marketOf(source, { token, dollarDecimals: dollar.decimals, pairs: own, moment });
    if (market !== null) found.set(token.address, market);
  }
  return found;
}

interface Place {
  token: TokenRow;
  dollarDecimals: number;
  pairs: readonly PairRow[];
  moment: Moment;
}

async function marketOf(
  { reader: { markets } }: IndexSource,
  { token, dollarDecimals, pairs, moment }: Place,
): Promise<Market | null> {
  const { decimals } = token;
  if (decimals === null) return null;
  const whole = 10n ** BigInt(decimals);
  const dollar = 10n ** BigInt(dollarDecimals);
  const priceOf = ({ usd, token: held }: Reserves): Ratio | null =>
    usd === 0n || held === 0n ? null : { value: usd * whole, over: held * dollar };

  const pair = await largest(markets, pairs, moment.time);
  const price = pair === null ? null : priceOf(pair.held);
  if (pair === null || price === null) return null;
  const [before, ...volumes] = await Promise.all([
    markets.reservesAt(pair.one, moment.time - DAY_MS),
    ...[0, 1, 2].map(days => markets.volumeUntil(pair.one, moment.time - days * DAY_MS)),
  ]);
  const [untilNow = 0n, untilDayBefore = 0n, untilTwoBefore = 0n] = volumes;
  const supply = moment.isHead
    ? token.totalSupply
    : await markets.totalSupplyAt(token.address, moment.blockNumber);
  return {
    moment,
    pair: pair.one,
    price,
    pricedAt: pair.held.timestamp,
    priceDayBefore: before === null ? null : priceOf(before),
    volume: { value: untilNow - untilDayBefore, over: dollar },
    volumeDayBefore: { value: untilDayBefore - untilTwoBefore, over: dollar },
    cap: supply === null ? null : { value: price.value * supply, over: price.over * whole },
    priceOf,
  };
}

/** The pair with the most dollars among those that held both tokens at that time. */
async function largest(
  markets: MarketReader,
  pairs: readonly PairRow[],
  time: number,
): Promise<{ one: PairRow; held: Reserves } | null> {
  let best: { one: PairRow; held: Reserves } | null = null;
  for (const one of pairs) {
    const held = await markets.reservesAt(one, time);
    if (held === null || held.token === 0n || held.usd === 0n) continue;
    if (best === null || held.usd > best.held.usd) best = { one, held };
  }
  return best;
}
