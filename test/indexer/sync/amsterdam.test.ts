import { type Address, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ChainIndex } from '../../../src/indexer/index-service.ts';
import { eachDatabase } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type CrossingChain, PAYEES, SYSTEM, startCrossingChain } from '../amsterdam-chain.ts';
import { startNodeProxy, TRACING } from '../node-proxy.ts';
import { clientOf, openTestIndex } from '../support.ts';

/** Longest pause before missing parts are asked for again. */
const DAY_MS = 86_400_000;

let chain: CrossingChain;
let fork: number;
let head: number;

beforeAll(async () => {
  chain = await startCrossingChain();
  ({ fork, head } = chain);
});
afterAll(() => chain.stop());

eachDatabase('an index of a chain that crosses the fork Amsterdam', databases => {
  let traced: ChainIndex;
  let untraced: ChainIndex;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, { missing: TRACING });
    traced = await openTestIndex({
      database: await databases.create('index'),
      client: clientOf(chain.rpcUrl),
    });
    const client = clientOf(proxy.rpcUrl);
    untraced = await openTestIndex({ database: await databases.create('index'), client });
    await traced.runOnce();
    await untraced.runOnce();
    stop = async () => {
      await Promise.all([traced.stop(), untraced.stop()]);
      await proxy.stop();
    };
  });
  afterAll(() => stop());

  test('takes logs of coins for no tokens, and the same log before the fork for one', async () => {
    for (const { reader } of [traced, untraced]) {
      const { items } = await reader.tokenTransfers({ limit: 50 });
      const known = await reader.tokens([SYSTEM]);
      const { items: logs } = await reader.addressLogs({ address: SYSTEM, limit: 50 });

      expect(items.map(({ token, blockNumber }) => [token, blockNumber])).toEqual([[SYSTEM, fork - 2]]);
      expect(known).toHaveLength(1);
      const isOfFork = logs.map(({ blockNumber }) => blockNumber >= fork);
      expect(isOfFork).toEqual([...Array.from({ length: 7 }, () => true), false]);
    }
  });

  test('has the coins that moved inside its transactions, from logs or from traces', async () => {
    const ofTraces = await coinsMoved(traced);
    const ofLogs = await coinsMoved(untraced);

    expect(ofLogs.filter(({ blockNumber }) => blockNumber < fork)).toEqual([]);
    expect(ofLogs).toEqual(ofTraces.filter(({ blockNumber }) => blockNumber >= fork));
    expect(ofLogs).toHaveLength(4);
    expect(ofTraces).toHaveLength(6);
  });

  test('replaces them by the calls of a trace that comes later', async () => {
    const { after } = chain.splits;
    const { items: blocks } = await traced.reader.blocks({ kind: 'block', limit: 50 });
    const traceOf: readonly unknown[] = [blocks.find(({ number }) => number === fork)?.hash, after];
    let isRefused = true;
    const proxy = await startNodeProxy(chain.rpcUrl, {
      refuses: ({ method, params }) =>
        isRefused && method.startsWith('debug_trace') && traceOf.includes(params?.[0]),
    });
    const clock = manualClock();
    const client = clientOf(proxy.rpcUrl);
    const index = await openTestIndex({ database: await databases.create('index'), client, clock });
    onTestFinished(async () => {
      await index.stop();
      await proxy.stop();
    });
    const calls = ({ reader }: ChainIndex) =>
      reader.internalTransactionsOf({ transactionHash: after, limit: 50 });

    await index.runOnce();
    const { items: ofLogs } = await calls(index);
    isRefused = false;
    clock.advance(DAY_MS);
    while ((await index.refillOnce()) === 1);

    expect(ofLogs.map(({ type }) => type)).toEqual([null, null, null]);
    expect(await calls(index)).toEqual(await calls(traced));
    expect(index.status()).toMatchObject({ unreadBlocks: 0 });
  });

  test('says of coins from logs neither the kind of the call nor its gas', async () => {
    const { items } = await untraced.reader.internalTransactions({ limit: 50 });

    for (const { type, gasLimit, gasUsed } of items)
      expect([type, gasLimit, gasUsed]).toEqual([null, null, null]);
  });

  test('has the balance of each account, and each block that changed it', async () => {
    const accounts = [...PAYEES, ...[1, 2, 3, 4].map(from => chain.accounts.signer(from).address)];
    for (const address of accounts.map(lowerCase)) {
      const balances = await Promise.all(
        Array.from({ length: head + 1 }, (_, block) =>
          chain.rpc.call('eth_getBalance', address, numberToHex(block)).then(String),
        ),
      );
      const changed = balances.flatMap((balance, block) => (balance === balances[block - 1] ? [] : [block]));
      for (const { reader } of [traced, untraced]) {
        expect(await reader.coinBalance(address)).toBe(BigInt(balances[head] ?? -1));
        const { moves } = await reader.coinMoves({ address, below: head + 1, limit: 50 });
        const first = reader === traced.reader ? 1 : fork;
        const blocks = moves.map(({ blockNumber }) => blockNumber);
        expect(blocks).toEqual(expect.arrayContaining(changed.filter(block => block >= first)));
      }
    }
  });

  test('knows the header of the fork', async () => {
    const { items } = await traced.reader.blocks({ kind: 'block', limit: 50 });

    expect(items.map(({ number, hasCoinLogs }) => [number >= fork, hasCoinLogs])).toEqual(
      items.map(({ number }) => [number >= fork, number >= fork]),
    );
  });
});

/** Coins that moved inside transactions, in the order of execution. */
async function coinsMoved({ reader }: ChainIndex) {
  const { items } = await reader.internalTransactions({ limit: 50 });
  return items
    .filter(({ value, error }) => value > 0n && error === null)
    .map(({ blockNumber, transactionHash, from, to, createdContract, value }) => ({
      blockNumber,
      transactionHash,
      from,
      to: to ?? createdContract,
      value,
    }))
    .toReversed();
}

function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}
