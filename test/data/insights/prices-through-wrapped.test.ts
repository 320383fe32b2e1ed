import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainIndex } from '#indexer/index-service.ts';
import { type Deployed, startTestChain, type TestChain } from '../../indexer/support.ts';
import { only } from '../values-support.ts';
import { indexed, insightsOf, lower, openMarket, priceQuestions, type TestMarket } from './prices-support.ts';

const NOON = Date.UTC(2024, 0, 1, 12);
const DAY_MS = 86_400_000;
const DOLLAR = 10n ** 6n;
const TOKEN = 10n ** 18n;
const ZERO = `0x${'0'.repeat(40)}`;
const ZERO_ONE = `0x${'0'.repeat(39)}1`;
const COIN = `0x${'Ee'.repeat(20)}`;

let chain: TestChain;
let market: TestMarket;
let index: ChainIndex;
let ask: ReturnType<typeof priceQuestions>;
let wrapped: Deployed;
let far: Deployed;
let both: Deployed;
let thin: Deployed;
let young: Deployed;
let single: Deployed;

beforeAll(async () => {
  chain = await startTestChain({ genesisTime: NOON / 1_000 - 3_600 });
  market = await openMarket(chain, NOON - 1_000_000);
  const token = (symbol: string) => chain.deploy('CommunityToken', [symbol, symbol, 10n ** 40n]);
  wrapped = await token('WETH');
  [far, both, thin, young, single] = [
    await token('FAR'),
    await token('BOTH'),
    await token('THIN'),
    await token('YOUNG'),
    await token('SINGLE'),
  ];
  await chain.mine();
  const pools = {
    wrapped: await market.list(wrapped),
    far: await market.list(far, wrapped),
    both: await market.list(both),
    bothThrough: await market.list(both, wrapped),
    thin: await market.list(thin),
    young: await market.list(young, wrapped),
    single: await market.list(single),
  };
  // A coin is worth 2,000 dollars, so BOTH's pair with the dollar is deeper than its 3 coins.
  await market.fill(pools.wrapped.pool, wrapped, { usd: 200_000n * DOLLAR, token: 100n * TOKEN });
  await market.fill(pools.far.pool, far, { usd: 10n * TOKEN, token: 5_000n * TOKEN }, wrapped);
  await market.fill(pools.both.pool, both, { usd: 8_000n * DOLLAR, token: 1_000n * TOKEN });
  await market.fill(pools.bothThrough.pool, both, { usd: 3n * TOKEN, token: 1_000n * TOKEN }, wrapped);
  await market.fill(pools.thin.pool, thin, { usd: 999n * DOLLAR, token: 1_000n * TOKEN });
  await market.fill(pools.single.pool, single, { usd: 2_000n * DOLLAR, token: 1n });
  await chain.send(0, single.call('mint', [ZERO_ONE, 1_000n * TOKEN]));
  await market.mineAt(NOON);
  await market.fill(pools.young.pool, young, { usd: 4n * TOKEN, token: 1_000n * TOKEN }, wrapped);
  // Twice the dollars for the same coins: a coin is worth 4,000 from now on, and the 3 coins are deeper.
  await chain.send(0, market.dollar.call('mint', [pools.wrapped.pool, 200_000n * DOLLAR]));
  await chain.send(0, wrapped.call('mint', [pools.wrapped.pool, 1n]));
  await market.fill(pools.wrapped.pool, wrapped, { usd: 0n, token: 0n });
  await market.mineAt(NOON + DAY_MS + 3_600_000);
  index = await indexed(chain, 'index.sqlite');
  const native = { symbol: 'ETH', wrapped: lower(wrapped.address) };
  ask = priceQuestions(insightsOf(index, { ...market.exchange, native }));
});

afterAll(async () => {
  await index.stop();
  await chain.stop();
});

const priceOf = async (address: string, timestamp?: number) =>
  (await ask.prices({ address: [address], ...(timestamp === undefined ? {} : { timestamp }) })).at(0)
    ?.price_usd;

test('the native coin has the price of its wrapped token, under both of its addresses', async () => {
  const [zero, coin, token] = await ask.prices({
    address: [ZERO, COIN, wrapped.address],
    include_holders: 'true',
  });

  expect(zero).toMatchObject({ address: ZERO, symbol: 'ETH', market_cap_usd: null });
  expect(zero).not.toHaveProperty('holders');
  expect(coin).toEqual({ ...zero, address: COIN.toLowerCase() });
  expect(token).toMatchObject({ symbol: 'WETH', price_usd: zero?.price_usd, holders: expect.any(Number) });
  expect(zero?.price_usd).toBeCloseTo(4_000, 6);
});

test('a token without a dollar pair is priced through the wrapped coin, now and in the past', async () => {
  const price = only(await ask.prices({ address: [far.address] }));

  expect(price.price_usd).toBeCloseTo(8, 6);
  expect(price.percent_change_24h).toBeCloseTo(100, 6);
  expect(await priceOf(far.address, NOON)).toBeCloseTo(4, 6);
});

test('of two routes the deeper one at that time sets the price', async () => {
  expect(await priceOf(both.address, NOON)).toBeCloseTo(8, 6);
  expect(await priceOf(both.address)).toBeCloseTo(12, 6);
});

test('a pool of less than 1,000 dollars gives no price, and before its pool a token has none', async () => {
  expect(await priceOf(thin.address)).toBeUndefined();
  expect(await priceOf(young.address, NOON)).toBeUndefined();
  expect(await priceOf(young.address)).toBeCloseTo(16, 6);
});

test('a pool with less than a millionth of a token gives it no price', async () => {
  expect(await priceOf(single.address)).toBeUndefined();
});

test('the dollar has the volume of its pair with the wrapped coin, and none without one', async () => {
  const query = { address: [market.dollar.address] };
  const plain = priceQuestions(insightsOf(index, market.exchange));
  const [coin] = await ask.prices({ address: [COIN] });

  expect(coin).toMatchObject({ volume_24h_usd: expect.any(Number) });
  expect(await ask.prices(query)).toMatchObject([{ price_usd: 1, volume_24h_usd: coin?.volume_24h_usd }]);
  expect(await plain.prices(query)).toMatchObject([
    { price_usd: 1, volume_24h_usd: null, volume_change_24h: null },
  ]);
});

test('without a configured wrapped coin only pairs with the dollar give prices', async () => {
  const plain = priceQuestions(insightsOf(index, market.exchange));

  expect(await plain.prices({ address: [far.address, COIN] })).toEqual([]);
  expect(await plain.prices({ address: [both.address] })).toMatchObject([{ price_usd: 8 }]);
});
