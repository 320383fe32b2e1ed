import {
  type Address,
  erc20Abi,
  getAddress,
  isAddressEqual,
  namehash,
  parseAbi,
  parseEventLogs,
  zeroAddress,
} from 'viem';
import { describe, expect } from 'vitest';
import { test } from '../support/served-devnet.ts';
import type { ChainView } from './chain-view.ts';

// As declared by the original contracts and EIP-137.
const FACTORY = parseAbi([
  'event PairCreated(address indexed token0, address indexed token1, address pair, uint count)',
  'function getPair(address tokenA, address tokenB) view returns (address pair)',
]);
const PAIR = parseAbi([
  'event Mint(address indexed sender, uint amount0, uint amount1)',
  'event Swap(address indexed sender, uint amount0In, uint amount1In, uint amount0Out, uint amount1Out, address indexed to)',
  'event Sync(uint112 reserve0, uint112 reserve1)',
  'function token0() view returns (address)',
  'function token1() view returns (address)',
  'function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast)',
]);
const TOKEN = parseAbi(['function balanceOf(address) view returns (uint256)']);
const NAMES = parseAbi([
  'function resolver(bytes32 node) view returns (address)',
  'function addr(bytes32 node) view returns (address)',
]);
const DAY_S = 86_400n;
const POOLS = ['Pool', 'Coin Pool'] as const;
type PoolName = (typeof POOLS)[number];
/** Token that a pool exchanges for dollars. */
const OTHER_TOKEN = { Pool: 'Community Token', 'Coin Pool': 'Wrapped Ether' } as const;

let views: ChainView[];

test.beforeAll(({ views: shared }) => {
  views = shared;
});

describe.each([0, 1])('embedded chain %i', index => {
  test('its factory has a pool of the dollar with the community token, and one with the wrapped coin', async () => {
    const { chain, contract, transactions } = view(index);
    const created = parseEventLogs({ abi: FACTORY, logs: transactions.flatMap(({ logs }) => logs) });
    const pairs = POOLS.map(pool => ({ ...tokensOf(index, pool), pair: contract(pool) }));

    expect(created.map(({ address, args }) => ({ address: getAddress(address), ...args }))).toEqual(
      pairs.map(pair => expect.objectContaining({ address: chain.prices.factory, ...pair })),
    );
    expect(chain.prices.usdToken).toBe(contract('US Dollar Sample'));
    expect(chain.prices.native).toEqual({ symbol: 'ETH', wrapped: contract('Wrapped Ether') });
  });

  test('the wrapped coin holds one coin for each token', async () => {
    const { client, contract } = view(index);
    const address = contract('Wrapped Ether');
    const supply = await client.readContract({ address, abi: erc20Abi, functionName: 'totalSupply' });

    expect(supply).toBeGreaterThan(10n ** 20n);
    expect(await client.getBalance({ address })).toBe(supply);
  });

  test.each(POOLS)('the factory finds the %s by its tokens in any order', async name => {
    const { client, chain, contract } = view(index);
    const pool = { address: contract(name), abi: PAIR } as const;
    const { token0, token1 } = tokensOf(index, name);
    const factory = { address: chain.prices.factory, abi: FACTORY, functionName: 'getPair' } as const;

    expect(await client.readContract({ ...pool, functionName: 'token0' })).toBe(token0);
    expect(await client.readContract({ ...pool, functionName: 'token1' })).toBe(token1);
    expect(await client.readContract({ ...factory, args: [token0, token1] })).toBe(pool.address);
    expect(await client.readContract({ ...factory, args: [token1, token0] })).toBe(pool.address);
  });

  test.each(POOLS)('the reserves of the %s equal its balances', async name => {
    const { client, contract } = view(index);
    const pool = { address: contract(name), abi: PAIR } as const;
    const [reserve0, reserve1] = await client.readContract({ ...pool, functionName: 'getReserves' });
    const held = await Promise.all(
      (['token0', 'token1'] as const).map(async functionName => {
        const address = await client.readContract({ ...pool, functionName });
        return client.readContract({ address, abi: TOKEN, functionName: 'balanceOf', args: [pool.address] });
      }),
    );
    const last = parseEventLogs({ abi: PAIR, logs: poolLogs(index, name), eventName: 'Sync' }).at(-1);

    expect(held).toEqual([reserve0, reserve1]);
    expect(last?.args).toEqual({ reserve0, reserve1 });
  });

  test.each(POOLS)(
    'the %s is traded in both directions on each of its five days, and never loses value by it',
    name => {
      const logs = poolLogs(index, name);
      const swaps = parseEventLogs({ abi: PAIR, logs, eventName: 'Swap' });
      const syncs = parseEventLogs({ abi: PAIR, logs, eventName: 'Sync' });
      const mints = parseEventLogs({ abi: PAIR, logs, eventName: 'Mint' });
      const times = new Map(view(index).blocks.map(({ number, timestamp }) => [number, timestamp]));
      const days = new Set(swaps.map(({ blockNumber }) => (times.get(blockNumber ?? 0n) ?? 0n) / DAY_S));
      const products = syncs.map(({ args }) => args.reserve0 * args.reserve1);

      expect(days.size).toBe(5);
      expect(swaps.some(({ args }) => args.amount0In > 0n && args.amount1Out > 0n)).toBe(true);
      expect(swaps.some(({ args }) => args.amount1In > 0n && args.amount0Out > 0n)).toBe(true);
      expect(mints).toHaveLength(1);
      expect(syncs).toHaveLength(swaps.length + 1);
      expect(products.every((product, at) => at === 0 || product >= (products[at - 1] ?? 0n))).toBe(true);
    },
  );

  test('alice.eth is a funded account, and no other account has a name', async () => {
    const { client, chain } = view(index);
    const ask = { abi: NAMES, address: chain.names.registry } as const;
    const node = namehash('alice.eth');
    const resolver = await client.readContract({ ...ask, functionName: 'resolver', args: [node] });
    const alice = await client.readContract({
      ...ask,
      address: resolver,
      functionName: 'addr',
      args: [node],
    });
    const bob = await client.readContract({ ...ask, functionName: 'resolver', args: [namehash('bob.eth')] });

    expect(await client.getBalance({ address: alice })).toBeGreaterThan(10n ** 20n);
    expect(bob).toBe(zeroAddress);
  });
});

function view(index: number): ChainView {
  const found = views[index];
  if (found === undefined) throw new RangeError(`no chain ${index}`);
  return found;
}

/** Tokens of a pool, the lower address first. */
function tokensOf(index: number, pool: PoolName): { token0: Address; token1: Address } {
  const { contract } = view(index);
  const [dollar, other] = [contract('US Dollar Sample'), contract(OTHER_TOKEN[pool])];
  return dollar.toLowerCase() < other.toLowerCase()
    ? { token0: dollar, token1: other }
    : { token0: other, token1: dollar };
}

function poolLogs(index: number, name: PoolName) {
  const { transactions, contract } = view(index);
  return transactions
    .flatMap(({ logs }) => logs)
    .filter(({ address }) => isAddressEqual(address, contract(name)));
}
