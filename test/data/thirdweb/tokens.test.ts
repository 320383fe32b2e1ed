import { describe, expect, test } from 'vitest';
import { fixtureOf, fixturesOf, violationsOf } from './fixtures.ts';
import { about, always, openedThirdweb, sentTo } from './opened-thirdweb.ts';

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const plain = { include_historical_prices: 'false', include_holders: 'false' } as const;
const lookup = (...symbol: string[]) => ({ path: {}, query: { symbol } });
const data = <Record>(json: readonly Record[]) => ({ json: { data: json } });

async function found(name: string) {
  await using to = await openedThirdweb(always(fixtureOf('lookUpTokens', name)));
  return await to.insights.lookUpTokens(lookup('USDC'), about(1));
}

async function priced(name: string) {
  await using to = await openedThirdweb(always(fixtureOf('getTokenPrices', name)));
  return await to.insights.getTokenPrices({ path: {}, query: { address: [USDC], ...plain } }, about(1));
}

describe('look-up', () => {
  test.each(fixturesOf('lookUpTokens'))('of $name answers in the form of the contract', async ({ name }) => {
    const tokens = await found(name);

    expect(tokens).toHaveLength(1);
    expect(await violationsOf('lookUpTokens', { data: tokens })).toEqual([]);
  });

  test('has upstream’s data, without nulls and fields outside the contract', async () => {
    expect(await found('2025-10')).toEqual([
      {
        chain_id: 1,
        token_address: USDC,
        name: 'USD Coin',
        symbol: 'USDC',
        decimals: 6,
        price_data: {
          price_usd: 0.999813,
          volume_24h_usd: 125000.75,
          market_cap_usd: 34500000,
          total_supply: 34506453.1,
          percent_change_24h: -1.25,
          price_timestamp: '2025-05-05T12:30:11.000Z',
        },
      },
    ]);
  });

  test('reads numbers from strings and a time from seconds', async () => {
    expect(await found('2025-07')).toMatchObject([
      {
        decimals: 6,
        price_data: {
          price_usd: 0.999813,
          market_cap_usd: 3.45e19,
          price_timestamp: '2025-05-05T12:30:11.000Z',
        },
      },
    ]);
  });

  test('leaves out an empty market and tokens with a longer symbol', async () => {
    expect(await found('2025-03')).toEqual([
      { chain_id: 1, token_address: USDC, symbol: 'USDC', decimals: 6 },
    ]);
  });

  test('requests ten symbols at a time, each once', async () => {
    await using to = await openedThirdweb(({ query }) =>
      data(query.getAll('symbol').map(symbol => ({ chain_id: 1, token_address: USDC, symbol }))),
    );
    const symbols = Array.from({ length: 12 }, (_, index) => `T${index}`);

    const tokens = await to.insights.lookUpTokens(lookup(...symbols, 'T1'), about(1, 10));

    expect(to.requests.map(({ query }) => query.getAll('symbol').length).sort()).toEqual([10, 2]);
    expect(to.requests[0]?.query.getAll('chain_id')).toEqual(['1', '10']);
    expect(tokens).toHaveLength(1);
  });
});

describe('prices', () => {
  test.each(fixturesOf('getTokenPrices'))('of $name are in the form of the contract', async ({ name }) => {
    const prices = await priced(name);

    expect(prices).toHaveLength(1);
    expect(await violationsOf('getTokenPrices', { data: prices })).toEqual([]);
  });

  test('have upstream’s values, with the history from the earliest day on', async () => {
    expect(await priced('2025-10')).toEqual([
      {
        chain_id: 1,
        address: USDC,
        symbol: 'USDC',
        price_usd: 0.999813,
        price_usd_cents: 99.9813,
        percent_change_24h: -1.25,
        volume_24h_usd: 125000.75,
        volume_change_24h: 12.5,
        market_cap_usd: 34500000,
        historical_prices: [
          { date: '2025-05-04', price_usd: 1, price_usd_cents: 100 },
          { date: '2025-05-05', price_usd: 0.999813, price_usd_cents: 99.9813 },
        ],
        holders: 548,
      },
    ]);
  });

  test('keep unknown values null, and compute missing cents from dollars', async () => {
    expect(await priced('2025-07')).toMatchObject([
      {
        price_usd: 0.999813,
        percent_change_24h: null,
        volume_change_24h: null,
        market_cap_usd: null,
        holders: 548,
        historical_prices: [{ date: '2025-05-05', price_usd: 0.999813, price_usd_cents: 0.999813 * 100 }],
      },
    ]);
  });

  test('have no volume where upstream has none', async () => {
    const data = [{ chain_id: 1, address: USDC, price_usd: 1 }];
    await using to = await openedThirdweb(() => ({ json: { data } }));
    const flags = { include_historical_prices: 'false', include_holders: 'false' } as const;
    const prices = await to.insights.getTokenPrices(
      { path: {}, query: { address: [USDC], ...flags } },
      about(1),
    );

    expect(prices).toMatchObject([{ price_usd: 1, volume_24h_usd: null, volume_change_24h: null }]);
    expect(await violationsOf('getTokenPrices', { data: prices })).toEqual([]);
  });

  test('lack tokens without a market', async () => {
    expect(await priced('2025-03')).toMatchObject([{ address: USDC, price_usd: 0.5, price_usd_cents: 50 }]);
  });

  test('by address and by symbol are requested separately, and answered once', async () => {
    await using to = await openedThirdweb(always(fixtureOf('getTokenPrices', '2025-10')));
    const query = {
      address: [USDC, 'token.eth'],
      symbol: ['USDC'],
      timestamp: 1_746_448_211,
      include_historical_prices: 'true',
      include_holders: 'false',
    } as const;

    const prices = await to.insights.getTokenPrices(
      { path: {}, query: { ...query, address: [...query.address], symbol: ['USDC'] } },
      about(1),
    );

    expect(prices).toHaveLength(1);
    expect(to.requests.map(sentTo).sort()).toEqual([
      [
        'chain_id=1',
        `address=${USDC}`,
        'address=token.eth',
        'timestamp=1746448211',
        'include_historical_prices=true',
      ],
      ['chain_id=1', 'symbol=USDC', 'timestamp=1746448211', 'include_historical_prices=true'],
    ]);
  });

  test('at time zero are empty, because upstream would refuse the request', async () => {
    await using to = await openedThirdweb(always(fixtureOf('getTokenPrices', '2025-10')));

    const prices = await to.insights.getTokenPrices(
      { path: {}, query: { address: [USDC], timestamp: 0, ...plain } },
      about(1),
    );

    expect([prices, to.requests.length]).toEqual([[], 0]);
  });
});
