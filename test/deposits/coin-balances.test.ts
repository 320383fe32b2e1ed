import { type Address, type Hex, hexToBigInt, parseEther } from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AskedNode, coinBalances, MULTICALL3 } from '#deposits/coin-balances.ts';
import { lowerCase } from '#evm/address.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { CHAIN_KINDS } from '../lab/chain-kind.ts';
import { type FaultyNode, faultyNode, type Lie } from '../lab/faulty-node.ts';
import { manualClock } from '../support/manual-clock.ts';
import { artifactOf, type DepositChain, newAccount, startDepositChain } from './deposit-chain.ts';

const HOLDERS = 600;
const REFUSAL = Object.assign(new Error('invalid argument 1: hex string without 0x prefix'), {
  code: -32_602,
});
const lacksState = Object.assign(new Error('missing trie node'), { code: -32_000 });

describe.each(CHAIN_KINDS)('coins of many addresses on $engine with the rules of $hardfork', kind => {
  let chain: DepositChain;
  let node: FaultyNode;
  let asked: AskedNode;
  const holders = Array.from({ length: HOLDERS }, newAccount);
  const [first, second] = holders;

  beforeAll(async () => {
    chain = await startDepositChain(kind);
    for (const [at, holder] of holders.entries())
      if (at % 100 === 0) await chain.transact({ to: holder, value: parseEther('1') + BigInt(at) });
  });
  afterAll(() => chain.stop());
  beforeEach(async () => {
    node = await faultyNode(chain.rpcUrl);
    const client = createChainClient({
      id: 31_337,
      rpcUrls: [node.url],
      timeoutMs: 5_000,
      log: silentLogger(),
    });
    const [only] = client.nodes;
    if (only === undefined) throw new Error('no node');
    asked = { node: only, raw: only.raw };
  });
  afterEach(() => node[Symbol.asyncDispose]());

  const setCode = (address: Address, code: Hex) =>
    chain.call(kind.engine === 'edr' ? 'hardhat_setCode' : 'anvil_setCode', address, code);
  const withGroups = () => setCode(MULTICALL3, Object(artifactOf('Aggregator')).deployedBytecode);
  const withoutGroups = () => setCode(MULTICALL3, '0x');

  async function newest() {
    const { number, hash } = Object(await chain.call('eth_getBlockByNumber', 'latest', false));
    return { number: Number(hexToBigInt(number)), hash: lowerCase(hash) };
  }
  const expected = holders.map((_, at) => (at % 100 === 0 ? parseEther('1') + BigInt(at) : 0n));

  test('are read in groups where the chain has Multicall3', async () => {
    await withGroups();
    await chain.mine();

    const balances = await coinBalances({ clock: manualClock() }).read(asked, await newest(), holders);

    expect(balances).toEqual(expected);
    expect(node.calls.filter(one => one === 'eth_call')).toHaveLength(2);
    expect(node.calls).not.toContain('eth_getBalance');
  });

  test('are read one by one elsewhere, and the contract is not looked for each time', async () => {
    await withoutGroups();
    await chain.mine();
    const reader = coinBalances({ clock: manualClock() });
    const block = await newest();

    const before = reader.balancesPerCall(asked);
    const balances = await reader.read(asked, block, holders);
    const again = await reader.read(asked, block, holders);

    expect([balances, again]).toEqual([expected, expected]);
    expect(node.calls.filter(one => one === 'eth_call')).toHaveLength(1);
    expect([before, reader.balancesPerCall(asked)]).toEqual([500, 1]);
  });

  test.each<[string, Lie]>([
    ['no results', ({ method }) => (method === 'eth_call' ? `0x${'00'.repeat(64)}` : undefined)],
    ['no ABI', ({ method }) => (method === 'eth_call' ? '0x1234' : undefined)],
    ['a refusal', ({ method }) => (method === 'eth_call' ? new Error('out of gas') : undefined)],
  ])('are read one by one after %s', async (_, lie) => {
    await withGroups();
    await chain.mine();
    node.tell(lie);

    const balances = await coinBalances({ clock: manualClock() }).read(asked, await newest(), holders);

    expect(balances).toEqual(expected);
  });

  test('are those at the end of the block, whatever came later', async () => {
    await withGroups();
    await chain.mine();
    const block = await newest();
    await chain.transact({ to: second ?? '0x', value: 5n });
    const reader = coinBalances({ clock: manualClock() });

    const then = await reader.read(asked, block, [first ?? '0x', second ?? '0x']);
    const now = await reader.read(asked, await newest(), [second ?? '0x']);

    expect(then).toEqual([expected[0], 0n]);
    expect(now).toEqual([5n]);
    await chain.call(kind.engine === 'edr' ? 'hardhat_setBalance' : 'anvil_setBalance', second, '0x0');
    await chain.mine();
  });

  test('are read by number where a node does not know blocks by their hash', async () => {
    await withGroups();
    await chain.mine();
    const byHash: Lie = ({ params }) => (JSON.stringify(params).includes('blockHash') ? REFUSAL : undefined);
    node.tell(byHash);
    const reader = coinBalances({ clock: manualClock() });
    const block = await newest();

    const balances = await reader.read(asked, block, holders);
    const calls = node.calls.length;
    const again = await reader.read(asked, block, holders);
    const other = await reader.read(asked, { ...block, hash: `0x${'1'.repeat(64)}` }, holders);

    expect([balances, again, other]).toEqual([expected, expected, null]);
    expect(node.calls.slice(calls, calls + 4)).toEqual([
      'eth_getBlockByNumber',
      'eth_call',
      'eth_call',
      'eth_getBlockByNumber',
    ]);
  });

  test('are none of a block that was replaced, or while its state is missing', async () => {
    await withGroups();
    await chain.mine();
    const block = await newest();
    const reader = coinBalances({ clock: manualClock() });

    const replaced = await reader.read(asked, { ...block, hash: `0x${'1'.repeat(64)}` }, holders);
    node.tell(({ method }) => (['eth_call', 'eth_getBalance'].includes(method) ? lacksState : undefined));
    const pruned = await reader.read(asked, block, holders);
    node.tell(undefined);
    const balances = await reader.read(asked, block, holders);

    expect([replaced, pruned, balances]).toEqual([null, null, expected]);
    // The node was not taken for one without blocks by hash, or without groups.
    expect(reader.balancesPerCall(asked)).toBe(500);
    expect(node.calls.filter(one => one === 'eth_getBalance').length).toBeLessThan(5);
  });

  test.each([
    ['no number', 'much'],
    ['null', null],
    ['a longer number', `0x1${'0'.repeat(64)}`],
  ])('are none when a node answers with %s', async (_, answer) => {
    await withoutGroups();
    await chain.mine();
    node.tell(({ method }) => (method === 'eth_getBalance' ? answer : undefined));

    const balances = await coinBalances({ clock: manualClock() }).read(asked, await newest(), holders);

    expect(balances).toBeNull();
  });
});
