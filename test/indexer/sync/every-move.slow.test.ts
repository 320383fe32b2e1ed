import { type Address, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabaseOptions } from '../../../src/db/open.ts';
import type { ChainIndex } from '../../../src/indexer/index-service.ts';
import { continuedOnAmsterdam } from '../../lab/crossing-chain.ts';
import { list, record, text } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type Burn, moveInEveryWay } from '../every-move.ts';
import { countedAgain, keptCounts } from '../kept-counts.ts';
import { startNodeProxy, TRACING, withWithdrawals } from '../node-proxy.ts';
import {
  CHAIN_ID,
  clientOf,
  openTestIndex,
  startTestChain,
  type TestChain,
  testChainAt,
} from '../support.ts';

/** An index that follows a chain, and its node. */
interface Follower {
  readonly index: ChainIndex;
  readonly database: DatabaseOptions;
  readonly isTraced: boolean;
  stop(): Promise<void>;
}

eachDatabase('coins that move in every way, before and after the fork Amsterdam', databases => {
  const withdrawals = new Map<number, object>();
  const accounts = { before: new Set<Address>(), after: new Set<Address>() };
  const wrong: unknown[] = [];
  let chain: TestChain;
  let fork: number;
  let head: number;
  let burn: Burn;
  let followers: readonly Follower[];
  let stopChains: () => Promise<void>;

  beforeAll(async () => {
    const early = await startTestChain({ engine: 'edr', hardfork: 'prague' });
    const files = [await databases.create('index'), await databases.create('index')] as const;
    const first = await following(early.rpcUrl, files);
    await moveInEveryWay(early, {
      newcomer: '0x00000000000000000000000000000000000000a1',
      withdrawals,
      accounts: accounts.before,
      mined: () => compare(early, { followers: first.slice(0, 1), those: accounts.before }),
    });
    for (const one of first) {
      await one.index.runOnce();
      await one.stop();
    }
    fork = 1 + Number(await early.rpc.call('eth_blockNumber'));

    const continued = await continuedOnAmsterdam({ rpcUrl: early.rpcUrl, chainId: CHAIN_ID });
    const { folder } = early;
    chain = testChainAt(continued.rpcUrl, { hardfork: 'amsterdam', folder, stop: early.stop });
    stopChains = async () => {
      await continued[Symbol.asyncDispose]();
      await early.stop();
    };
    followers = await following(chain.rpcUrl, files);
    burn = await moveInEveryWay(chain, {
      newcomer: '0x00000000000000000000000000000000000000a2',
      withdrawals,
      accounts: accounts.after,
      mined: () => compare(chain, { followers, those: accounts.after }),
    });
    head = Number(await chain.rpc.call('eth_blockNumber'));
  });
  afterAll(async () => {
    for (const { stop } of followers) await stop();
    await stopChains();
  });

  /** Indexes in these databases: one over a node that traces, one over a node that does not. */
  async function following(rpcUrl: string, files: readonly DatabaseOptions[]): Promise<Follower[]> {
    const all: Follower[] = [];
    for (const [at, database] of files.entries()) {
      const isTraced = at === 0;
      const proxy = await startNodeProxy(rpcUrl, {
        missing: isTraced ? [] : TRACING,
        change: (method, result) => (/^eth_getBlockBy/.test(method) ? withWithdrawal(result) : result),
      });
      const index = await openTestIndex({ database, client: clientOf(proxy.rpcUrl) });
      const stop = async () => {
        await index.stop();
        await proxy.stop();
      };
      all.push({ index, database, isTraced, stop });
    }
    return all;
  }

  function withWithdrawal(block: unknown): unknown {
    if (block === null) return null;
    const withdrawal = withdrawals.get(Number(record(block).number));
    return withdrawal === undefined ? block : withWithdrawals(record(block), [withdrawal]);
  }

  /** Reads the newest block into the indexes, and keeps each balance that is not the node's. */
  async function compare(
    { rpc }: TestChain,
    { followers: some, those }: { followers: readonly Follower[]; those: ReadonlySet<Address> },
  ): Promise<void> {
    for (const { index, isTraced } of some) {
      await index.runOnce();
      for (const address of those) {
        const expected = BigInt(text(await rpc.call('eth_getBalance', address, 'latest')));
        const actual = (await index.reader.coinBalance(address)) ?? 0n;
        const { head: block } = index.status();
        if (actual !== expected) wrong.push({ isTraced, block, address, actual, expected });
      }
    }
  }

  test('leave each account with the node’s balance after each block, also without traces after the fork', () => {
    expect(wrong).toEqual([]);
  });

  test('are in the history of each account whose balance they changed', async () => {
    const missing: unknown[] = [];
    for (const { index, isTraced } of followers) {
      const those = isTraced ? [...accounts.before, ...accounts.after] : [...accounts.after];
      for (const address of those) {
        const { moves } = await index.reader.coinMoves({ address, below: head + 1, limit: 50 });
        const listed = new Set(moves.map(({ blockNumber }) => blockNumber));
        const changed = await changesOf(address);
        const first = isTraced ? 1 : fork;
        const left = changed.filter(block => block >= first && !listed.has(block));
        if (left.length > 0) missing.push({ isTraced, address, left });
      }
    }

    expect(missing).toEqual([]);
  });

  async function changesOf(address: Address): Promise<number[]> {
    const changed: number[] = [];
    let previous: unknown;
    for (let block = 0; block <= head; block += 1) {
      const balance = await chain.rpc.call('eth_getBalance', address, numberToHex(block));
      if (block > 0 && balance !== previous) changed.push(block);
      previous = balance;
    }
    return changed;
  }

  test('that end with a contract are internal transactions to no account', async () => {
    const of = ({ index: { reader } }: Follower) =>
      reader.internalTransactionsOf({ transactionHash: burn.hash, limit: 50 });
    const [ofTraces, ofLogs] = await Promise.all(followers.map(of));

    expect(ofLogs?.items).toMatchObject([
      { type: null, from: burn.contract, to: null, createdContract: null, value: 7n, error: null },
    ]);
    expect(ofTraces?.items.map(({ type, value }) => [type, value])).toEqual([
      ['create', 0n],
      ['selfdestruct', 7n],
    ]);
  });

  test('cost what the receipts say, and the gas of a block is that of its header, also with refunds', async () => {
    const seen = await Promise.all(Array.from({ length: head + 1 }, (_, number) => seenBlock(number)));
    const isRefunded = ({ number, gasUsed, receipts }: SeenBlock) =>
      number > 0 && gasUsed !== receipts.reduce((sum, { gas }) => sum + gas, 0n);
    const total = seen.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);

    expect(seen.filter(isRefunded).map(({ number }) => number >= fork)).toEqual([true]);
    for (const { index, database } of followers) {
      const { items } = await index.reader.blocks({ kind: 'block', limit: 50 });
      expect(items.toReversed().map(({ gasUsed }) => gasUsed)).toEqual(seen.map(({ gasUsed }) => gasUsed));
      expect(items.toReversed().map(({ burntFees }) => burntFees)).toEqual(
        seen.map(({ baseFee, receipts }) => receipts.reduce((sum, { gas }) => sum + gas * baseFee, 0n)),
      );
      expect(items.toReversed().map(({ transactionFees }) => transactionFees)).toEqual(
        seen.map(({ receipts }) => receipts.reduce((sum, { gas, price }) => sum + gas * price, 0n)),
      );
      expect(await index.reader.totals()).toMatchObject({ gasUsed: total });
      expect(await keptCounts(database)).toEqual(await countedAgain(database));
    }
  });

  interface SeenBlock {
    readonly number: number;
    readonly gasUsed: bigint;
    readonly baseFee: bigint;
    readonly receipts: readonly { readonly gas: bigint; readonly price: bigint }[];
  }

  async function seenBlock(number: number): Promise<SeenBlock> {
    const block = record(await chain.rpc.call('eth_getBlockByNumber', numberToHex(number), false));
    const hashes = list(block.transactions).map(text);
    const receipts = await Promise.all(
      hashes.map(async hash => {
        const { gasUsed, effectiveGasPrice } = record(
          await chain.rpc.call('eth_getTransactionReceipt', hash),
        );
        return { gas: BigInt(text(gasUsed)), price: BigInt(text(effectiveGasPrice)) };
      }),
    );
    const [gasUsed, baseFee] = [block.gasUsed, block.baseFeePerGas].map(value => BigInt(text(value)));
    if (gasUsed === undefined || baseFee === undefined) throw new Error('no gas');
    return { number, gasUsed, baseFee, receipts };
  }
});
