import { expect } from 'vitest';
import { createMetrics } from '#http/metrics.ts';
import {
  type ChainStatus,
  chainStatuses,
  chainWarnings,
  paymentChainStatusBody,
  registerWatcherMetrics,
} from '#payments/chain-status.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import type { ChainWatcher } from '#payments/watcher/chain-watcher.ts';
import { paymentChain, watcherOf } from './watcher/setting.ts';
import { eachWatchedShop, never } from './watcher/watched-shop.ts';

const BUSY = Object.assign(new Error('too many requests'), { code: 429 });

eachWatchedShop('the status of a chain', watchedTest => {
  /** `test` with the chain's status as shown by the process of a watcher. */
  const test = watchedTest.extend(
    'shownBy',
    ({ chain, ours }) =>
      async ({ status }: ChainWatcher): Promise<ChainStatus | undefined> => {
        const watched = [{ chain: paymentChain(chain), status }];
        return (await chainStatuses({ db: ours.db, clock: ours.clock, watched }).all())[0];
      },
  );

  test('only the watching process shows head and node; the former one hides them after its next round', async ({
    chain,
    ours,
    shownBy,
  }) => {
    const first = ours.watcher;
    const { db, clock } = ours;
    const second = watcherOf({ chain: paymentChain(chain), rpcUrls: [chain.rpcUrl], db, clock });

    await first.runOnce(never);
    await chain.mine();
    clock.advance(21_000); // longer than a lease
    await second.runOnce(never);
    await first.runOnce(never);
    const head = await chain.head();

    const shownByFirst = await shownBy(first);
    expect(shownByFirst).toMatchObject({ headBlock: undefined, node: undefined, settledBlock: head });
    expect(shownByFirst && paymentChainStatusBody(shownByFirst)).toMatchObject({
      head_block: null,
      scanned_block: head,
      settled_block: head,
    });
    expect(await shownBy(second)).toMatchObject({ headBlock: head, node: '127.0.0.1', settledBlock: head });
  });

  test('names the source that shows coins of contracts, and null before there is one', async ({
    chain,
    ours,
    shownBy,
  }) => {
    await ours.round();
    const seenBy = async () => {
      const status = await shownBy(ours.watcher);
      return status && paymentChainStatusBody(status).coins_from_contracts;
    };

    const before = await seenBy();
    const blockNumber = await chain.head();
    await cursorStore(ours.db).setCoinLogs(chain.chainId, { from: blockNumber + 2, blockNumber });
    const early = await seenBy();
    await chain.mine(1);
    await ours.round();

    expect([before, early, await seenBy()]).toEqual([null, null, 'logs']);
  });

  test('says up to which block the coins of contracts were read from traces, also while it is behind', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { db, clock, node, watcher } = ours;
    const statuses = chainStatuses({ db, clock, watched: [{ chain: paymentChain(chain), ...watcher }] });
    const shown = async () => (await statuses.all()).map(paymentChainStatusBody)[0];
    const before = await shown();
    await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.payment(1n);
    await ours.settle();
    const traced = await chain.head();
    const upToDate = await shown();

    node.tell(({ method }) => (/^(trace|debug)_/.test(method) ? BUSY : undefined));
    await ours.payment(1n);
    await ours.settle();

    expect(before).toMatchObject({ coins_from_contracts: null, traced_block: null });
    expect(upToDate).toMatchObject({ coins_from_contracts: 'traces', traced_block: traced });
    expect(await shown()).toMatchObject({ traced_block: traced, scanned_block: await chain.head() });
  });

  test('says up to which block payments were read from proven blocks, with prove: always only', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes({ changes: { prove: 'always' } });
    const { db, clock, watcher } = ours;
    const shown = async (prove: 'always' | 'findings') => {
      const watched = [{ chain: { ...paymentChain(chain), prove }, ...watcher }];
      return (await chainStatuses({ db, clock, watched }).all()).map(paymentChainStatusBody)[0];
    };
    const before = await shown('always');
    await ours.open();
    await ours.round();

    expect(before).toMatchObject({ proven_block: null });
    expect(await shown('always')).toMatchObject({ proven_block: await chain.head() });
    expect(await shown('findings')).toMatchObject({ proven_block: null });
  });

  test('a chain on which nothing is settled for a minute is late, and its status names the part', async ({
    chain,
    ours,
  }) => {
    const { db, clock } = ours;
    await ours.round();
    const statuses = chainStatuses({
      db,
      clock,
      watched: [{ chain: paymentChain(chain), status: ours.watcher.status }],
    });
    const [before] = await statuses.all();
    /** The chain is read on, and nothing in it can be settled. */
    const readOn = (blocks: number) =>
      cursorStore(db).set(chain.chainId, {
        blockNumber: (before?.scannedBlock ?? 0) + blocks,
        scannedAt: clock.now(),
        headTime: undefined,
      });

    await readOn(1);
    const [atFirst] = await statuses.all();
    clock.advance(61_000);
    await readOn(2);
    const [afterwards] = await statuses.all();
    const isLate = await statuses.isLate(chain.chainId);
    await cursorStore(db).setSettledBlock(chain.chainId, (before?.scannedBlock ?? 0) + 2);
    const [settled] = await statuses.all();

    expect(before && paymentChainStatusBody(before)).toMatchObject({ stalled: null, late: false });
    expect(atFirst && paymentChainStatusBody(atFirst)).toMatchObject({ stalled: null, late: false });
    expect(afterwards && paymentChainStatusBody(afterwards)).toMatchObject({
      stalled: 'settlement',
      late: true,
    });
    expect(isLate).toBe(true);
    expect(settled && paymentChainStatusBody(settled)).toMatchObject({ stalled: null, late: false });
  });

  test('a chain whose head is taken from the round before shows no lag', async ({ chain, shownBy, ours }) => {
    await ours.round();
    for (let index = 0; index < 3; index++) {
      await chain.mine(4);
      await ours.round();
    }

    const status = await shownBy(ours.watcher);

    const judgedBy = (await chain.head()) - 4;
    expect(status && paymentChainStatusBody(status)).toMatchObject({
      head_block: judgedBy,
      scanned_block: judgedBy,
      lag_blocks: 0,
    });
  });

  test('a watcher whose nodes hang since its start shows the last block read, and a warning', async ({
    chain,
    ours,
    shownBy,
  }) => {
    await ours.round();
    const head = await chain.head();
    const { db, clock } = ours;
    const metrics = createMetrics();
    const silent = watcherOf({ chain: paymentChain(chain), rpcUrls: [chain.rpcUrl], db, clock });
    const watched = [{ chain: paymentChain(chain), status: silent.status }];
    registerWatcherMetrics(metrics, chainStatuses({ db, clock, watched }));
    clock.advance(180_000);

    const status = await shownBy(silent);
    const text = await metrics.registry.metrics();

    expect(text).toContain(`tollgate_payments_watcher_head_block{chain="${chain.chainId}"} ${head}\n`);
    expect(text).toMatch(/^tollgate_payments_watcher_lag_seconds\{chain="\d+"\} 180$/m);
    expect(status && chainWarnings([status])).toEqual([
      `payments on chain ${chain.chainId} wait, 180 s by now: no process reads it up to its head`,
    ]);
  });
});
