import { getAddress, isAddressEqual, namehash, parseAbi, parseEventLogs, zeroAddress } from 'viem';
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

let views: ChainView[];

test.beforeAll(({ views: shared }) => {
  views = shared;
});

describe.each([0, 1])('embedded chain %i', index => {
  test('its factory has one pool of the community token and the dollar', async () => {
    const { client, chain, contract, transactions } = view(index);
    const tokens = [contract('US Dollar Sample'), contract('Community Token')].sort((a, b) =>
      a.toLowerCase() < b.toLowerCase() ? -1 : 1,
    );
    const created = parseEventLogs({ abi: FACTORY, logs: transactions.flatMap(({ logs }) => logs) });
    const pool = { address: contract('Pool'), abi: PAIR } as const;

    expect(created.map(({ address, args }) => ({ address: getAddress(address), ...args }))).toEqual(
      [{ address: chain.prices.factory, token0: tokens[0], token1: tokens[1], pair: contract('Pool') }].map(
        known => expect.objectContaining(known),
      ),
    );
    expect(await client.readContract({ ...pool, functionName: 'token0' })).toBe(tokens[0]);
    expect(await client.readContract({ ...pool, functionName: 'token1' })).toBe(tokens[1]);
    for (const args of [tokens, tokens.toReversed()]) {
      const [tokenA = zeroAddress, tokenB = zeroAddress] = args;
      const asked = { address: chain.prices.factory, abi: FACTORY, functionName: 'getPair' } as const;
      expect(await client.readContract({ ...asked, args: [tokenA, tokenB] })).toBe(contract('Pool'));
    }
    expect(chain.prices.usdToken).toBe(contract('US Dollar Sample'));
  });

  test('the pool’s reserves equal its balances', async () => {
    const { client, contract } = view(index);
    const pool = { address: contract('Pool'), abi: PAIR } as const;
    const [reserve0, reserve1] = await client.readContract({ ...pool, functionName: 'getReserves' });
    const held = await Promise.all(
      (['token0', 'token1'] as const).map(async functionName => {
        const address = await client.readContract({ ...pool, functionName });
        return client.readContract({ address, abi: TOKEN, functionName: 'balanceOf', args: [pool.address] });
      }),
    );
    const last = parseEventLogs({ abi: PAIR, logs: poolLogs(index), eventName: 'Sync' }).at(-1);

    expect(held).toEqual([reserve0, reserve1]);
    expect(last?.args).toEqual({ reserve0, reserve1 });
  });

  test('its pool is traded in both directions on each of its five days, and never loses value by it', () => {
    const logs = poolLogs(index);
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
  });

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

function poolLogs(index: number) {
  const { transactions, contract } = view(index);
  return transactions
    .flatMap(({ logs }) => logs)
    .filter(({ address }) => isAddressEqual(address, contract('Pool')));
}
