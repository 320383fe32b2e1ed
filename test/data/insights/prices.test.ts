import { join } from 'node:path';
import { type Address, ethAddress, formatUnits, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedChain } from '#devnet/embedded-chain.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import { clientOf, openTestIndex } from '../../indexer/support.ts';
import { startTestDevnet, TEST_END_TIME, type TestDevnet } from '../../lab/devnet.ts';
import { type Node, nodeOf, only } from '../values-support.ts';
import { insightsOf, lower, priceQuestions } from './prices-support.ts';

const PAIR = parseAbi([
  'event Swap(address indexed sender, uint amount0In, uint amount1In, uint amount0Out, uint amount1Out, address indexed to)',
  'function token0() view returns (address)',
  'function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 changedAt)',
]);
const TOKEN = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
]);
const DAY_MS = 86_400_000;

let devnet: TestDevnet;
let index: ChainIndex;
let node: Node;
let chain: EmbeddedChain;
let ask: ReturnType<typeof priceQuestions>;
let toll: Address;
let pool: Address;
let coinPool: Address;

beforeAll(async () => {
  devnet = await startTestDevnet();
  chain = only(devnet.chains);
  node = nodeOf(chain);
  index = await openTestIndex({ file: join(devnet.folder, 'index.sqlite'), client: clientOf(chain.rpcUrl) });
  await index.runOnce();
  ask = priceQuestions(insightsOf(index, chain.prices));
  toll = addressOf('Community Token');
  pool = addressOf('Pool');
  coinPool = addressOf('Coin Pool');
});

afterAll(async () => {
  await index.stop();
  await devnet.stop();
});

test('the price follows from the pool’s reserves, and the market cap from the supply', async () => {
  const price = only(await ask.prices({ symbol: ['toll'], include_holders: 'true' }));
  const { usd, token } = await reservesAt(await node.viem.getBlockNumber());
  const supply = await node.viem.readContract({ address: toll, abi: TOKEN, functionName: 'totalSupply' });
  const expected = usd / token;

  expect(price).toMatchObject({ address: lower(toll), symbol: 'TOLL' });
  expect(price.price_usd / expected).toBeCloseTo(1, 12);
  expect(price.price_usd_cents / expected).toBeCloseTo(100, 10);
  expect((price.market_cap_usd ?? 0) / (expected * (Number(supply) / 1e18))).toBeCloseTo(1, 12);
  expect(price.holders).toBe(await holdersOf(toll));
});

test('price and volume changes compare the last 24 hours before the last block with the 24 hours before', async () => {
  const price = only(await ask.prices({ address: [toll.toUpperCase().replace('0X', '0x')] }));
  const { today, yesterday } = await volumesOf(pool);
  const before = await reservesAt(await blockBefore(TEST_END_TIME - DAY_MS));
  const then = before.usd / before.token;

  expect(today).toBeGreaterThan(0);
  expect(yesterday).toBeGreaterThan(0);
  expect(price.volume_24h_usd).toBeCloseTo(today, 6);
  expect(price.volume_change_24h).toBeCloseTo((today / yesterday - 1) * 100, 6);
  expect(price.percent_change_24h).toBeCloseTo((price.price_usd / then - 1) * 100, 8);
});

test('the coin has the price of its pool, and the dollar the volume of that pool', async () => {
  const dollar = addressOf('US Dollar Sample');
  const [coin, wrapped, usd] = await ask.prices({
    address: [ethAddress, addressOf('Wrapped Ether'), dollar],
    include_historical_prices: 'true',
  });
  const held = await reservesAt(await node.viem.getBlockNumber(), coinPool);
  const { today, yesterday } = await volumesOf(coinPool);

  expect(coin).toMatchObject({ address: ethAddress, symbol: 'ETH', price_usd: wrapped?.price_usd });
  expect(wrapped).toMatchObject({ symbol: 'WETH', volume_24h_usd: coin?.volume_24h_usd });
  expect((coin?.price_usd ?? 0) / (held.usd / held.token)).toBeCloseTo(1, 12);
  expect(coin?.historical_prices).toHaveLength(5);
  expect(today).toBeGreaterThan(0);
  expect(yesterday).toBeGreaterThan(0);
  expect(usd).toMatchObject({ address: lower(dollar), price_usd: 1, historical_prices: [] });
  for (const price of [coin, usd]) {
    expect(price?.volume_24h_usd).toBeCloseTo(today, 6);
    expect(price?.volume_change_24h).toBeCloseTo((today / yesterday - 1) * 100, 6);
  }
});

test('the history has the last price of every day, and a past price is that of its block', async () => {
  const price = only(await ask.prices({ address: [toll], include_historical_prices: 'true' }));
  const days = [...new Set((await tradesOf()).map(({ time }) => Math.floor(time / DAY_MS)))];

  expect(days).toHaveLength(5);
  expect(price.historical_prices?.map(({ date }) => date)).toEqual(
    days.map(day => new Date(day * DAY_MS).toISOString().slice(0, 10)),
  );
  for (const [at, day] of days.entries()) {
    const end = Math.min((day + 1) * DAY_MS - 1, TEST_END_TIME);
    const { usd, token } = await reservesAt(await blockBefore(end));
    const [then] = await ask.prices({ address: [toll], timestamp: end });
    expect((price.historical_prices?.[at]?.price_usd ?? 0) / (usd / token)).toBeCloseTo(1, 12);
    expect(then?.price_usd).toBe(price.historical_prices?.[at]?.price_usd);
  }
});

test('a symbol finds tokens with exactly that symbol in any letter case, with their market', async () => {
  const found = await ask.lookUp('usds', 'Toll');
  const price = only(await ask.prices({ address: [toll] }));
  const supply = await node.viem.readContract({ address: toll, abi: TOKEN, functionName: 'totalSupply' });

  expect(new Set(found.map(({ symbol }) => symbol))).toEqual(new Set(['USDS', 'TOLL']));
  expect(found.find(({ symbol }) => symbol === 'USDS')).toEqual({
    chain_id: chain.id,
    token_address: lower(addressOf('US Dollar Sample')),
    name: 'US Dollar Sample',
    symbol: 'USDS',
    decimals: 6,
    price_data: expect.objectContaining({ price_usd: 1, percent_change_24h: 0 }),
  });
  expect(found.find(({ symbol }) => symbol === 'TOLL')).toEqual({
    chain_id: chain.id,
    token_address: lower(toll),
    name: 'Community Token',
    symbol: 'TOLL',
    decimals: 18,
    price_data: {
      price_usd: price.price_usd,
      volume_24h_usd: price.volume_24h_usd,
      market_cap_usd: price.market_cap_usd,
      total_supply: Number(formatUnits(supply, 18)),
      percent_change_24h: price.percent_change_24h,
      price_timestamp: new Date((await tradesOf()).at(-1)?.time ?? 0).toISOString(),
    },
  });
});

test('part of a symbol, a name, or the symbol of a non-fungible token finds nothing', async () => {
  expect(await ask.lookUp('usd', 'tol', 'Community Token', 'POST', ' ', '%')).toEqual([]);
});

test('a token named by address and by symbol is returned once', async () => {
  const prices = await ask.prices({ address: [toll, toll], symbol: ['TOLL', 'toll'] });

  expect(prices).toHaveLength(1);
});

/** A pool's reserves in whole dollars and tokens, from the node. */
async function reservesAt(blockNumber: bigint, address = pool): Promise<{ usd: number; token: number }> {
  const [reserve0, reserve1] = await node.viem.readContract({
    address,
    abi: PAIR,
    functionName: 'getReserves',
    blockNumber,
  });
  const [usd, token] = (await isDollarFirst(address)) ? [reserve0, reserve1] : [reserve1, reserve0];
  return { usd: Number(usd) / 1e6, token: Number(token) / 1e18 };
}

async function isDollarFirst(address: Address): Promise<boolean> {
  const first = await node.viem.readContract({ address, abi: PAIR, functionName: 'token0' });
  return first === addressOf('US Dollar Sample');
}

/** Dollar amount and time of each trade, from the node's logs. */
async function tradesOf(address = pool): Promise<{ time: number; usd: number }[]> {
  const logs = await node.viem.getLogs({ address, event: PAIR[0], fromBlock: 0n });
  const isFirst = await isDollarFirst(address);
  return Promise.all(
    logs.map(async ({ args, blockNumber }) => {
      const { timestamp } = await node.viem.getBlock({ blockNumber });
      const amounts = isFirst ? [args.amount0In, args.amount0Out] : [args.amount1In, args.amount1Out];
      return {
        time: Number(timestamp) * 1_000,
        usd: amounts.reduce((sum, part) => sum + Number(part), 0) / 1e6,
      };
    }),
  );
}

/** Dollars traded in a pool in the 24 hours before the last block, and in the 24 hours before. */
async function volumesOf(address: Address): Promise<{ today: number; yesterday: number }> {
  const trades = await tradesOf(address);
  const volume = (from: number, to: number) =>
    trades
      .filter(({ time }) => time > TEST_END_TIME - from && time <= TEST_END_TIME - to)
      .reduce((sum, { usd }) => sum + usd, 0);
  return { today: volume(DAY_MS, 0), yesterday: volume(2 * DAY_MS, DAY_MS) };
}

async function blockBefore(time: number): Promise<bigint> {
  let number = await node.viem.getBlockNumber();
  while (Number((await node.viem.getBlock({ blockNumber: number })).timestamp) * 1_000 > time) number -= 1n;
  return number;
}

/** All accounts that received some tokens and still have some. */
async function holdersOf(token: Address): Promise<number> {
  const logs = await node.viem.getLogs({ address: token, event: TOKEN[0], fromBlock: 0n });
  const receivers = [...new Set(logs.flatMap(({ args }) => args.to ?? []))];
  const balances = await Promise.all(
    receivers.map(receiver =>
      node.viem.readContract({ address: token, abi: TOKEN, functionName: 'balanceOf', args: [receiver] }),
    ),
  );
  return balances.filter(balance => balance > 0n).length;
}

function addressOf(name: string): Address {
  return only(chain.contracts.filter(contract => contract.name === name)).address;
}
