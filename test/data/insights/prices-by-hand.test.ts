import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainIndex } from '#indexer/index-service.ts';
import {
  CHAIN_ID,
  canonicalContent,
  type Deployed,
  startTestChain,
  type TestChain,
} from '../../indexer/support.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { only } from '../values-support.ts';
import { indexed, insightsOf, lower, openMarket, priceQuestions, type TestMarket } from './prices-support.ts';

const NOON = Date.UTC(2024, 0, 1, 12);
const HOUR_MS = 3_600_000;
const DOLLAR = 10n ** 6n;
const TOKEN = 10n ** 18n;

let chain: TestChain;
let market: TestMarket;
let token: Deployed;
let other: Deployed;
let index: ChainIndex;
let ask: ReturnType<typeof priceQuestions>;

// A swap keeps the product of the reserves constant, with a fee of 0.3 % on the amount sold.
beforeAll(async () => {
  chain = await startTestChain({ genesisTime: NOON / 1_000 - 3_600 });
  market = await openMarket(chain, NOON - HOUR_MS / 2);
  const made: Deployed[] = [];
  for (const symbol of ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE', 'SIX']) {
    made.push(await chain.deploy('CommunityToken', [symbol, symbol, 10n ** 40n]));
  }
  await chain.mine();
  // The dollar is the second token of one pool and the first of the other.
  const before = made.find(({ address }) => lower(address) < market.exchange.usdToken);
  const behind = made.find(({ address }) => lower(address) > market.exchange.usdToken);
  if (before === undefined || behind === undefined)
    throw new Error('all tokens are on one side of the dollar');
  [token, other] = [before, behind];
  const owner = chain.accounts.signer(0).address;
  await chain.send(0, market.dollar.call('mint', [owner, 10n ** 24n]));
  await chain.send(0, token.call('mint', [owner, 600n * TOKEN]));
  const { pool, approve } = await market.list(token);
  const large = await market.list(other);
  await approve();
  await large.approve();

  await market.fill(pool, token, { usd: 1_000n * DOLLAR, token: 400n * TOKEN });
  await market.fill(large.pool, other, { usd: 10n ** 21n, token: 10n ** 33n });
  await market.mineAt(NOON);
  await market.sell(pool, market.dollar, 100n * DOLLAR);
  await market.mineAt(NOON + 22 * HOUR_MS);
  await market.sell(pool, market.dollar, 50n * DOLLAR);
  await market.sell(large.pool, market.dollar, 123_456_789_012_345_678_901n);
  await market.mineAt(NOON + 32 * HOUR_MS);
  await market.sell(pool, token, 20n * TOKEN);
  await market.sell(large.pool, market.dollar, 1n);
  await market.mineAt(NOON + 42 * HOUR_MS);
  await market.mineAt(NOON + 51 * HOUR_MS);
  index = await indexed(chain, 'index.sqlite');
  ask = priceQuestions(insightsOf(index, market.exchange));
});

afterAll(async () => {
  await index.stop();
  await chain.stop();
});

test('price, day, volume, supply, holders and history match a calculation by hand from the reserves', async () => {
  const price = only(
    await ask.prices({
      address: [token.address],
      include_historical_prices: 'true',
      include_holders: 'true',
    }),
  );

  // 1,087.671641 dollars and 367.966361411726258391 tokens; a day before 1,100 and 363.735564244794034737.
  expect(price).toEqual({
    chain_id: CHAIN_ID,
    address: lower(token.address),
    symbol: expect.any(String),
    price_usd: 2.955899655683413,
    price_usd_cents: 295.5899655683413,
    percent_change_24h: -2.2576518990001198,
    // 50 dollars in and 62.328359 out, after 100 on the day before.
    volume_24h_usd: 112.328359,
    volume_change_24h: 12.328359,
    // Of 1,000 tokens.
    market_cap_usd: 2955.899655683413,
    historical_prices: [
      { date: '2024-01-02', price_usd: 3.3049171630681817, price_usd_cents: 330.4917163068182 },
      { date: '2024-01-03', price_usd: 2.955899655683413, price_usd_cents: 295.5899655683413 },
    ],
    holders: 2,
  });
});

test('a timestamp in seconds or milliseconds gives the market at that time', async () => {
  const at = NOON + 23 * HOUR_MS;
  const [inSeconds, inMs] = await Promise.all(
    [at / 1_000, at].map(timestamp =>
      ask.prices({ address: [token.address], include_historical_prices: 'true', timestamp }),
    ),
  );

  expect(inMs).toEqual(inSeconds);
  expect(inSeconds).toEqual([
    expect.objectContaining({
      price_usd: 3.024175,
      volume_24h_usd: 100,
      // A day before, there was no trade and no pool.
      percent_change_24h: null,
      volume_change_24h: null,
      historical_prices: [{ date: '2024-01-02', price_usd: 3.024175, price_usd_cents: 302.4175 }],
    }),
  ]);
});

test('times are exact to the millisecond: a trade counts from its block’s time on, for 24 hours', async () => {
  const first = NOON + 22 * HOUR_MS;
  const volumeAt = async (timestamp: number) =>
    only(await ask.prices({ address: [token.address], timestamp })).volume_24h_usd;

  expect(await volumeAt(first - 1)).toBe(0);
  expect(await volumeAt(first)).toBe(100);
  expect(await volumeAt(first + 24 * HOUR_MS - 1)).toBe(212.328359);
  expect(await volumeAt(first + 24 * HOUR_MS)).toBe(112.328359);
});

test('before its pool a token is not in the answer, and a future time means now', async () => {
  const now = await ask.prices({ address: [token.address] });

  expect(await ask.prices({ address: [token.address], timestamp: NOON - 1 })).toEqual([]);
  expect(await ask.prices({ address: [token.address], timestamp: 0 })).toEqual([]);
  expect(await ask.prices({ address: [token.address], timestamp: Number.MAX_SAFE_INTEGER })).toEqual(now);
});

test('volumes beyond 64 bits are exact, whichever token of the pair is the dollar', async () => {
  const { markets } = index.reader;
  const pair = only(
    await markets.pairs({
      factory: market.exchange.factory,
      base: market.exchange.usdToken,
      tokens: [lower(other.address)],
    }),
  );
  const last = NOON + 42 * HOUR_MS;

  expect(pair.isBaseFirst).toBe(true);
  expect(await markets.volumeUntil(pair, last)).toBe(123_456_789_012_345_678_902n);
  expect(await markets.volumeUntil(pair, last - 1)).toBe(123_456_789_012_345_678_901n);
  expect(await markets.volumeUntil(pair, NOON)).toBe(0n);
});

test('prices by address are in the order of the request', async () => {
  const [one, two] = [token, other].map(({ address }) => lower(address));
  const named = async (address: string[]) => (await ask.prices({ address })).map(price => price.address);

  expect(await named([one ?? '', two ?? ''])).toEqual([one, two]);
  expect(await named([two ?? '', one ?? ''])).toEqual([two, one]);
});

test('prices by symbol are in the order of the request after the addresses, and look-up sorts by holders', async () => {
  const priced = await ask.prices({ address: [token.address, other.address] });
  const [one = '', two = ''] = priced.map(({ symbol }) => symbol);
  const named = async (symbol: string[], address: string[] = []) =>
    (await ask.prices({ symbol, address })).map(price => price.symbol);

  expect(await named([one, two])).toEqual([one, two]);
  expect(await named([two, one])).toEqual([two, one]);
  expect(await named([two.toLowerCase(), one])).toEqual([two, one]);
  expect(await named([two, one], [token.address])).toEqual([one, two]);
  const found = async (...symbols: string[]) => (await ask.lookUp(...symbols)).map(({ symbol }) => symbol);
  // The first token has another holder besides its pool.
  expect(await found(one, two)).toEqual([one, two]);
  expect(await found(two, one)).toEqual([one, two]);
});

test('the supply of a past time is the supply at that time', async () => {
  const then = await ask.prices({ address: [token.address], timestamp: NOON + 23 * HOUR_MS });

  // 600 tokens and the 400 of the pool.
  expect(then).toEqual([expect.objectContaining({ market_cap_usd: 3024.175 })]);
});

test('a dollar is worth one, and its traded volume is null', async () => {
  expect(await ask.prices({ symbol: ['USD'], include_historical_prices: 'true' })).toMatchObject([
    {
      price_usd: 1,
      price_usd_cents: 100,
      percent_change_24h: 0,
      volume_24h_usd: null,
      historical_prices: [],
    },
  ]);
});

test('a token without a pool, an account and a contract that is not a token have no price', async () => {
  const address = [market.exchange.factory, chain.accounts.signer(5).address];

  expect(await ask.prices({ address })).toEqual([]);
  expect(await ask.prices({ symbol: ['NOPE'] })).toEqual([]);
});

test('without a configured market tokens are found, and prices are left to another back end', async () => {
  const insights = insightsOf(index);
  const found = await insights.lookUpTokens?.(
    { path: {}, query: { symbol: ['usd'] } },
    { chainIds: [CHAIN_ID], signal: AbortSignal.timeout(PATIENCE_MS) },
  );

  expect(insights.getTokenPrices).toBeUndefined();
  expect(found).toEqual([
    {
      chain_id: CHAIN_ID,
      token_address: market.exchange.usdToken,
      name: 'Dollar',
      symbol: 'USD',
      decimals: 6,
    },
  ]);
});

test('a trade removed by a reorganisation changes neither price nor volume any more', async () => {
  const wanted = { address: [token.address], timestamp: NOON + 41 * HOUR_MS };
  const kept = await ask.prices(wanted);
  await chain.rollback(2);
  await market.mineAt(NOON + 51 * HOUR_MS);

  await index.runOnce();
  const now = only(await ask.prices({ address: [token.address] }));
  const fresh = await indexed(chain, 'fresh.sqlite');
  await fresh.stop();

  expect(now).toMatchObject({ price_usd: 3.3049171630681817, volume_24h_usd: 50, volume_change_24h: -50 });
  expect(await ask.prices(wanted)).toEqual(kept);
  expect(await canonicalContent(join(chain.folder, 'index.sqlite'))).toEqual(
    await canonicalContent(join(chain.folder, 'fresh.sqlite')),
  );
});
