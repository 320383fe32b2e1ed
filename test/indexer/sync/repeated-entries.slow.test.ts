import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createChainClient } from '#node/client.ts';
import { type DatabaseKind, eachDatabase } from '#test/support/databases.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { startNodeProxy } from '../node-proxy.ts';
import {
  CHAIN_ID,
  canonicalContent,
  clientOf,
  log,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

type Entry = Readonly<Record<string, unknown>>;
type Change = (method: string, result: unknown) => unknown;

const TRACERS = ['trace_block', 'debug_traceBlockByHash', 'debug_traceBlockByNumber'];

let chain: TestChain;
let otherChain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  const token = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  await chain.send(0, token.call('mint', [chain.accounts.signer(0).address, 1_000n]));
  await chain.send(1, { to: chain.accounts.signer(2).address, value: 5n });
  const splitter = await chain.deploy('PaymentSplitter', []);
  await chain.mine();
  const receivers = [chain.accounts.signer(3).address, chain.accounts.signer(4).address];
  await chain.send(0, { ...splitter.call('split', [receivers]), value: 10n });
  await chain.send(1, { to: chain.accounts.signer(2).address, value: 5n });
  await chain.mine();
  otherChain = await startTestChain();
  for (const value of [1n, 2n, 3n]) {
    await otherChain.send(1, { to: otherChain.accounts.signer(3).address, value });
    await otherChain.mine();
  }
});

afterAll(async () => {
  await Promise.all([chain.stop(), otherChain.stop()]);
});

eachDatabase('an index', databases => {
  test('stores repeated receipts and logs once', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, {
      change: ofReceipts(all => twice(all.map(one => ({ ...one, logs: twice(listOf(one.logs)) })))),
    });
    onTestFinished(() => proxy.stop());
    const { database, index } = await openOver(proxy.rpcUrl);

    await index.runOnce();

    expect(await canonicalContent(database)).toEqual(await contentOfChain());
  });

  test('stores transactions repeated by a node without traces once', async () => {
    const simple = await startNodeProxy(chain.rpcUrl, { missing: TRACERS });
    const proxy = await startNodeProxy(simple.rpcUrl, { change: inTurn(ofBlocks(twice), ofReceipts(twice)) });
    onTestFinished(async () => {
      await Promise.all([proxy.stop(), simple.stop()]);
    });
    const { database, index } = await openOver(proxy.rpcUrl);

    await index.runOnce();

    expect(await canonicalContent(database)).toEqual(await contentOfChain(simple.rpcUrl));
  });

  test.for(casesFor(databases.kind))(
    'stores nothing of a block when its node repeats %s, and requests the traces again',
    async ([, tracer, change]) => {
      let isFaulty = true;
      const proxy = await startNodeProxy(chain.rpcUrl, {
        missing: TRACERS.filter(name => name !== tracer),
        change: (method, result) => (isFaulty ? change(method, result) : result),
      });
      onTestFinished(() => proxy.stop());
      const { database, index } = await openOver(proxy.rpcUrl);

      await expect(index.runOnce()).rejects.toThrow(/^The node contradicts itself about block [123]: /);
      isFaulty = false;
      await index.runOnce();

      const content = await canonicalContent(database);
      expect(content).toEqual(await contentOfChain(proxy.rpcUrl));
      expect(content.internal_transactions).toHaveLength(2);
    },
  );

  test('asks another node for a block whose traces the first one repeats', async () => {
    const faulty = await startNodeProxy(chain.rpcUrl, { change: ofTraces(twice) });
    const sound = await startNodeProxy(chain.rpcUrl, {});
    onTestFinished(async () => {
      await Promise.all([faulty.stop(), sound.stop()]);
    });
    const { database, index } = await openOver(faulty.rpcUrl, sound.rpcUrl);

    await index.runOnce();

    expect(await canonicalContent(database)).toEqual(await contentOfChain());
    expect(sound.counts.get('eth_chainId')).toBeGreaterThan(0);
  });

  test('stores nothing of a block about which its node contradicts itself, and retries in the next run', async () => {
    let isFaulty = true;
    const proxy = await startNodeProxy(chain.rpcUrl, {
      change: (method, result) => (isFaulty ? ofReceipts(withOtherLogs)(method, result) : result),
    });
    onTestFinished(() => proxy.stop());
    const { database, index } = await openOver(proxy.rpcUrl);

    await expect(index.runOnce()).rejects.toThrow(
      /^The node contradicts itself about block [123]: two logs have the index \d+\.$/,
    );
    isFaulty = false;
    await index.runOnce();

    expect(await canonicalContent(database)).toEqual(await contentOfChain());
  });

  test('asks another node for a block about which the first one contradicts itself', async () => {
    const proxy = await startNodeProxy(chain.rpcUrl, {
      change: ofBlocks(all => [...all, ...all.map(one => ({ ...one, value: '0x7' }))]),
    });
    onTestFinished(() => proxy.stop());
    const { database, index } = await openOver(proxy.rpcUrl, chain.rpcUrl);

    await index.runOnce();

    expect(await canonicalContent(database)).toEqual(await contentOfChain());
  });

  test('takes no block from a node that serves another chain', async () => {
    const faulty = await startNodeProxy(chain.rpcUrl, { change: ofReceipts(withOtherLogs) });
    const foreign = await startNodeProxy(chain.rpcUrl, {
      change: (method, result) => (method === 'eth_chainId' ? '0x5' : result),
    });
    onTestFinished(async () => {
      await Promise.all([faulty.stop(), foreign.stop()]);
    });
    const { database, index } = await openOver(faulty.rpcUrl, foreign.rpcUrl);

    await expect(index.runOnce()).rejects.toThrow(/^The node contradicts itself about block [123]: /);

    expect(foreign.counts.get('eth_getBlockByNumber')).toBeUndefined();
    expect((await canonicalContent(database)).transactions).toEqual([]);
  });

  test('fails over a contradiction when another node has a different block at that height', async () => {
    const faulty = await startNodeProxy(chain.rpcUrl, { change: ofReceipts(withOtherLogs) });
    onTestFinished(() => faulty.stop());
    const { database, index } = await openOver(faulty.rpcUrl, otherChain.rpcUrl);

    await expect(index.runOnce()).rejects.toThrow(/^The node contradicts itself about block [123]: /);

    expect((await canonicalContent(database)).transactions).toEqual([]);
  });

  /** An index that reads from these nodes. */
  async function openOver(...rpcUrls: string[]) {
    const database = await databases.create();
    const client = createChainClient({ id: CHAIN_ID, rpcUrls, timeoutMs: PATIENCE_MS, log });
    const index = await openTestIndex({ database, client });
    onTestFinished(() => index.stop());
    return { database, index };
  }
});

/**
 * Entries that a tracing node repeats. A block is refused before it reaches the database, so one database checks them
 * all.
 */
function casesFor(kind: DatabaseKind): [string, tracer: string, Change][] {
  const inPairs = (all: readonly Entry[]) => all.flatMap(one => [one, one]);
  const cases: [string, tracer: string, Change][] = [
    ['transactions, not traces', 'trace_block', ofBlocks(twice)],
    ['transactions, not frames', 'debug_traceBlockByHash', ofBlocks(twice)],
    ['transactions and traces', 'trace_block', inTurn(ofBlocks(twice), ofTraces(twice))],
    ['transactions and frames', 'debug_traceBlockByHash', inTurn(ofBlocks(twice), ofTraces(twice))],
    ['transactions and positions', 'trace_block', inTurn(ofBlocks(inPairs), ofTraces(withShiftedPositions))],
    ['traces', 'trace_block', ofTraces(twice)],
    ['inner traces', 'trace_block', ofTraces(all => [...all, ...all.filter(isInner)])],
    ['frames', 'debug_traceBlockByHash', ofTraces(twice)],
    ['frames of a number', 'debug_traceBlockByNumber', ofTraces(twice)],
  ];
  return kind === 'sqlite'
    ? cases
    : cases.filter(([what]) => ['transactions and traces', 'frames'].includes(what));
}

/** Content of the index from a node without repeats. */
async function contentOfChain(rpcUrl = chain.rpcUrl) {
  const file = join(chain.folder, rpcUrl === chain.rpcUrl ? 'plain.sqlite' : `${randomUUID()}.sqlite`);
  const index = await openTestIndex({ file, client: clientOf(rpcUrl) });
  await index.runOnce().finally(() => index.stop());
  return canonicalContent(file);
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(isEntry) : [];
}

function twice(all: readonly Entry[]): Entry[] {
  return [...all, ...all];
}

/** Each log a second time, with other data. */
function withOtherLogs(receipts: readonly Entry[]): Entry[] {
  return receipts.map(one => {
    const logs = listOf(one.logs);
    return { ...one, logs: [...logs, ...logs.map(log => ({ ...log, data: `0x${'07'.repeat(32)}` }))] };
  });
}

function ofReceipts(change: (all: readonly Entry[]) => Entry[]): Change {
  return (method, result) => (method === 'eth_getBlockReceipts' ? change(listOf(result)) : result);
}

function ofBlocks(change: (transactions: readonly Entry[]) => Entry[]): Change {
  return (method, result) =>
    method === 'eth_getBlockByNumber' && isEntry(result)
      ? { ...result, transactions: change(listOf(result.transactions)) }
      : result;
}

function ofTraces(change: (traces: readonly Entry[]) => Entry[]): Change {
  return (method, result) => (TRACERS.includes(method) ? change(listOf(result)) : result);
}

function inTurn(...changes: readonly Change[]): Change {
  return (method, result) => changes.reduce((changed, change) => change(method, changed), result);
}

function isInner({ traceAddress }: Entry): boolean {
  return Array.isArray(traceAddress) && traceAddress.length > 0;
}

/** Traces of a block that lists each transaction twice in succession. */
function withShiftedPositions(traces: readonly Entry[]): Entry[] {
  return traces.flatMap(trace =>
    typeof trace.transactionPosition === 'number'
      ? [0, 1].map(shift => ({
          ...trace,
          transactionPosition: 2 * Number(trace.transactionPosition) + shift,
        }))
      : [trace],
  );
}
