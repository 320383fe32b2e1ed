import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { numberToHex } from 'viem';
import { expect } from 'vitest';
import { openIndexedChains } from '#data/indexed-chains.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { ProvenIndex } from '#payments/watcher/proofs/indexed-blocks.ts';
import { clientOf, openTestIndex } from '../../indexer/support.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { until } from '../../lab/until.ts';
import { DATABASES_OF_RUN, postgresDatabase, sqliteDatabase } from '../../support/databases.ts';
import { hidesLogs } from './proof-lies.ts';
import { BLOCKS_TO_SETTLE, log } from './setting.ts';
import { eachWatchedShop, type WatchedShop } from './watched-shop.ts';

/** An index of the chain, as another part of the installation writes it, and its reader for payments. */
interface IndexOfChain {
  readonly index: ChainIndex;
  readonly reader: ProvenIndex;
}

/** The other parts of the installation may be on another kind of database. */
const indexDatabase = DATABASES_OF_RUN.includes('postgres') ? postgresDatabase : sqliteDatabase;

const READS_OF_BLOCKS = ['eth_getBlockByHash', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'];

/** A server that accepts connections and says nothing. */
async function silentServer(): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Begins a round, and resolves when it waits for the index; `go` ends the wait and the round. */
async function roundWithPause(ours: WatchedShop): Promise<{ go(): Promise<void> }> {
  const round = ours.round();
  // The look itself waits for proofs, too, but longer.
  await until(
    async () => ours.clock.sleepers(),
    count => count >= 2,
  );
  return {
    async go() {
      ours.clock.advance(300);
      await round;
    },
  };
}

eachWatchedShop('payments that an index of the installation proves', watchedTest => {
  const test = watchedTest.extend('indexed', async ({ chain }, { onCleanup }): Promise<IndexOfChain> => {
    const { options: database, remove } = await indexDatabase('index');
    const index = await openTestIndex({ database, client: clientOf(chain.rpcUrl) });
    const backends = [{ kind: 'index', database }] as const;
    const chains = openIndexedChains([{ id: chain.chainId, backends }], { clock: chain.clock, log });
    onCleanup(async () => {
      await chains.close();
      await index.stop();
      await remove();
    });
    await index.runOnce();
    const reader = chains.ofChain(chain.chainId);
    if (reader === undefined) throw new Error('the chain has no index');
    return { index, reader };
  });

  test('are completed as proven without a read of their block from a node', async ({
    chain,
    behindNodes,
    indexed,
  }) => {
    await using ours = await behindNodes({ index: indexed.reader });
    const sessions = [await ours.open(), await ours.open({ tokenAddress: NATIVE_COIN })];
    await ours.round();
    await ours.payment(sessions[0]?.amountDue ?? 0n);
    const value = sessions[1]?.amountDue ?? 0n;
    await chain.send({ from: 4, to: addressOf(ours.recipient), value });
    await chain.mine(BLOCKS_TO_SETTLE);
    await indexed.index.runOnce();

    const before = ours.node.calls.length;
    await ours.round();

    for (const { id } of sessions)
      expect(await ours.payments(id)).toMatchObject([{ status: 'completed', proven: true }]);
    const calls = ours.node.calls.slice(before);
    // One receipt says whether the coins were sent, before the payment is recorded.
    expect(calls.filter(one => READS_OF_BLOCKS.includes(one))).toEqual(['eth_getTransactionReceipt']);
  });

  test.for(['always', 'findings'] as const)(
    'are found in its blocks when the node hides their logs, with prove: %s',
    async (prove, { chain, behindNodes, indexed }) => {
      await using ours = await behindNodes({ index: indexed.reader, changes: { prove } });
      const session = await ours.open();
      await indexed.index.runOnce();
      await ours.round();
      ours.node.tell(hidesLogs);
      await ours.payment(session.amountDue);
      await chain.mine(BLOCKS_TO_SETTLE);
      await indexed.index.runOnce();

      const before = ours.node.calls.length;
      await ours.round();
      await ours.round();

      expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
      const calls = ours.node.calls.slice(before);
      expect(calls.filter(one => READS_OF_BLOCKS.includes(one))).toEqual([]);
    },
  );

  test('are not those that a node invents', async ({ chain, behindNodes, indexed }) => {
    await using ours = await behindNodes({ index: indexed.reader });
    const session = await ours.open();
    await chain.pay({ from: 1, to: ours.recipient, amount: 1n });
    await chain.mine(BLOCKS_TO_SETTLE);
    await indexed.index.runOnce();

    const data = numberToHex(session.amountDue, { size: 32 });
    ours.node.tell(({ method }, answer) =>
      method === 'eth_getLogs' && Array.isArray(answer) ? answer.map(one => ({ ...one, data })) : undefined,
    );
    await ours.round();
    await ours.round();

    expect(await ours.session(session.id)).toMatchObject({ status: 'active' });
    expect(ours.watcher.status().contradictions.current()).toHaveLength(1);
    expect(ours.node.calls).not.toContain('eth_getBlockByHash');
  });

  test('wait a moment for an index that is just behind', async ({ chain, behindNodes, indexed }) => {
    await using ours = await behindNodes({ index: indexed.reader, changes: { confirmations: 0 } });
    const session = await ours.open({ requiredConfirmations: 0 });
    await ours.round();
    await ours.payment(session.amountDue);
    await chain.mine();

    const round = await roundWithPause(ours);
    await indexed.index.runOnce();
    await round.go();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
    expect(ours.node.calls).not.toContain('eth_getBlockByHash');
  });

  test('are proven by a node when the index stays behind', async ({ chain, behindNodes, indexed }) => {
    await using ours = await behindNodes({ index: indexed.reader });
    const session = await ours.open();
    await ours.round();
    await ours.payment(session.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);

    const round = await roundWithPause(ours);
    await round.go();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
    expect(ours.node.calls.filter(one => one === 'eth_getBlockByHash')).toHaveLength(1);
  });

  test('are proven by a node while the database of the index does not answer', async ({
    chain,
    behindNodes,
  }) => {
    await using silent = await silentServer();
    const database = { kind: 'postgres', url: `postgres://nobody@127.0.0.1:${silent.port}/index` } as const;
    const backends = [{ kind: 'index', database }] as const;
    const chains = openIndexedChains([{ id: chain.chainId, backends }], { clock: chain.clock, log });
    const since = performance.now();

    const found = await chains
      .ofChain(chain.chainId)
      ?.block({ number: 1, hash: `0x${'07'.repeat(32)}`, hashes: undefined });
    const waitedMs = performance.now() - since;
    await using ours = await behindNodes({ index: chains.ofChain(chain.chainId) });
    const session = await ours.open();
    await ours.round();
    await ours.payment(session.amountDue);
    await ours.settle();

    expect(found).toEqual({ kind: 'absent', head: undefined });
    expect(waitedMs).toBeLessThan(4_000);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
  });

  test('are proven by a node while the index cannot be read', async ({ chain, behindNodes }) => {
    const backends = [{ kind: 'index', database: { file: '/missing/index.db' } }] as const;
    const chains = openIndexedChains([{ id: chain.chainId, backends }], { clock: chain.clock, log });
    await using ours = await behindNodes({ index: chains.ofChain(chain.chainId) });
    const session = await ours.open();
    await ours.round();

    await ours.payment(session.amountDue);
    await ours.settle();

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
    await chains.close();
  });
});
