import { describe, expect, test } from 'vitest';
import type { InsightsRequestOf } from '#data/backends/port/insights-backend.ts';
import { fixtureOf, fixturesOf, violationsOf } from './fixtures.ts';
import { about, always, failureOf, openedThirdweb, sentTo } from './opened-thirdweb.ts';

type Query = InsightsRequestOf<'listTokenBalances'>['query'];

const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const COIN = `0x${'ee'.repeat(20)}`;
const OWNER = '0x3f5ce5fbfe3e9af3971dd833d26ba9b5c936f0be';
const asked = (query: Partial<Query> = {}) => ({
  path: {},
  query: {
    owner_address: [OWNER],
    metadata: 'false',
    include_native: 'true',
    include_spam: 'false',
    include_without_price: 'true',
    sort_by: 'token_address',
    sort_order: 'asc',
    limit: 20,
    page: 0,
    ...query,
  } satisfies Query,
});

test.each(fixturesOf('listTokenBalances'))('$name answers in the form of the contract', async ({ name }) => {
  await using to = await openedThirdweb(always(fixtureOf('listTokenBalances', name)));
  const data = await to.insights.listTokenBalances(asked(), about(1));

  expect(data.length).toBeGreaterThan(0);
  expect(await violationsOf('listTokenBalances', { data })).toEqual([]);
});

test('balances have the requested owner and their token’s kind, and none is zero', async () => {
  await using to = await openedThirdweb(always(fixtureOf('listTokenBalances', '2025-10')));
  const data = await to.insights.listTokenBalances(asked({ metadata: 'true' }), about(1));

  expect(data).toEqual([
    {
      chain_id: 1,
      owner_address: OWNER,
      token_address: USDC,
      token_type: 'erc20',
      balance: '12500000',
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
      price_data: {
        price_usd: 0.999813,
        usd_value: 12.4976625,
        volume_24h_usd: 125000.75,
        market_cap_usd: 34500000,
        total_supply: 34506453.1,
        percent_change_24h: -1.25,
        price_timestamp: '2025-05-05T12:30:11.000Z',
      },
    },
    {
      chain_id: 1,
      owner_address: OWNER,
      token_address: COIN,
      token_type: 'native',
      balance: '1000000000000000000000',
      name: 'Ether',
      symbol: 'ETH',
      decimals: 18,
    },
  ]);
});

test('amounts that upstream sends as numbers are exact', async () => {
  await using to = await openedThirdweb(always(fixtureOf('listTokenBalances', '2025-07')));

  expect(await to.insights.listTokenBalances(asked(), about(1))).toMatchObject([
    { balance: '12500000000000000000000000' },
  ]);
});

test('balances of a name have no owner', async () => {
  await using to = await openedThirdweb(always(fixtureOf('listTokenBalances', '2025-10')));
  const data = await to.insights.listTokenBalances(asked({ owner_address: ['alice.eth'] }), about(1));

  expect(data.filter(one => 'owner_address' in one)).toEqual([]);
});

describe('asks upstream', () => {
  const nothing = () => ({ json: { data: [] } });

  test('about each owner separately, with its own page', async () => {
    await using to = await openedThirdweb(nothing);
    const other = `0x${'12'.repeat(20)}`;
    await to.insights.listTokenBalances(asked({ owner_address: [OWNER, other, OWNER] }), about(1, 10));

    expect(to.requests.map(request => request.query.getAll('owner_address')).sort()).toEqual([
      [other],
      [OWNER],
    ]);
    expect(sentTo(to.requests[0]).slice(0, 2)).toEqual(['chain_id=1', 'chain_id=10']);
  });

  test('with upstream’s parameter names, and for prices where the order needs them', async () => {
    await using to = await openedThirdweb(nothing);
    await to.insights.listTokenBalances(asked({ limit: 7, page: 2 }), about(1));
    await to.insights.listTokenBalances(
      asked({
        token_address: [USDC],
        token_type: ['erc20'],
        include_spam: 'true',
        sort_by: 'usd_value',
        sort_order: 'desc',
      }),
      about(1),
    );

    expect(to.requests.map(sentTo)).toEqual([
      [
        'chain_id=1',
        `owner_address=${OWNER}`,
        'limit=7',
        'page=2',
        'sort_by=token_address',
        'sort_order=asc',
      ],
      [
        'chain_id=1',
        `owner_address=${OWNER}`,
        'limit=20',
        'page=0',
        `token_address=${USDC}`,
        'metadata=true',
        'include_spam=true',
        'include_native=false',
        'sort_by=usd_value',
        'sort_order=desc',
      ],
    ]);
  });

  test('nothing about kinds that it does not list', async () => {
    await using to = await openedThirdweb(nothing);
    for (const kinds of [['erc721'], ['erc20', 'erc1155'], ['native']] as const) {
      const failure = failureOf(to.insights.listTokenBalances(asked({ token_type: [...kinds] }), about(1)));
      expect(await failure).toMatchObject({ kind: 'unsupported' });
    }
    expect(to.requests).toEqual([]);
  });
});
