import { expect } from 'vitest';
import type { Lie } from '../../lab/faulty-node.ts';
import { BLOCKS_TO_SETTLE, paymentChain, watcherOf } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

const BLOCK_MS = 250;

eachWatchedShop('blocks that change after they were scanned', watchedTest => {
  const test = watchedTest
    /** Mines blocks in groups, with a look of the watcher after each group. */
    .extend(
      'mineWatched',
      ({ chain }) =>
        async (look: () => Promise<void>, blocks: number, group: number) => {
          for (let mined = 0; mined < blocks; mined += group) {
            await chain.mine(Math.min(group, blocks - mined));
            await look();
          }
        },
    );

  test.for([
    [13, 1],
    [40, 8],
    [128, 8],
    [128, 128],
  ] as const)(
    'a payment at the beginning of a branch that replaces %i blocks completes its session, with %i blocks per round',
    async ([depth, group], { chain, ours, mineWatched }) => {
      const session = await ours.open();
      await mineWatched(ours.round, 20, 4);
      const before = await chain.snapshot();
      const paid = await ours.payment(session.amountDue);
      await chain.call('anvil_dropAllTransactions');
      await mineWatched(ours.round, depth, group);

      await chain.fork(before, depth, [paid.raw]);
      await mineWatched(ours.round, 4, 2);

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    },
  );

  test('a payment in a branch that replaced 100 blocks while no watcher ran completes its session', async ({
    chain,
    ours,
    mineWatched,
  }) => {
    const session = await ours.open();
    await mineWatched(ours.round, 20, 4);
    const before = await chain.snapshot();
    const paid = await ours.payment(session.amountDue);
    await chain.call('anvil_dropAllTransactions');
    await mineWatched(ours.round, 100, 10);
    await ours.watcher.resign();

    await chain.fork(before, 200, [paid.raw]);
    const restarted = watcherOf({
      chain: paymentChain(chain),
      rpcUrls: [chain.rpcUrl],
      db: ours.db,
      clock: ours.clock,
    });
    await restarted.runOnce(never);

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test.for([75, 120])(
    'a completed payment that a branch of %i blocks drops is reported as failed',
    async (depth, { chain, ours, mineWatched }) => {
      const session = await ours.open();
      await mineWatched(ours.round, 4, 2);
      const before = await chain.snapshot();
      await ours.payment(session.amountDue);
      await mineWatched(ours.round, depth, 8);
      const completed = await ours.session(session.id);

      await chain.fork(before, depth + 2);
      await mineWatched(ours.round, 4, 2);

      expect(completed).toMatchObject({ status: 'completed', isReorged: false });
      expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: true });
      expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'payment.failed']);
    },
  );

  test('logs that a node shows ten seconds after their block are found, with four blocks per second', async ({
    behindNodes,
    mineWatched,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    await ours.round();
    const { hash } = await ours.payment(session.amountDue);
    const group = 8;
    const look = async () => {
      ours.clock.advance(group * BLOCK_MS);
      await ours.look();
    };

    ours.node.tell(withoutLogsOf(hash));
    await mineWatched(look, 10_000 / BLOCK_MS, group);
    const missed = await ours.session(session.id);
    ours.node.tell(undefined);
    await mineWatched(look, BLOCKS_TO_SETTLE, group);

    expect(missed).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });
});

function withoutLogsOf(hash: string): Lie {
  return ({ method }, answer) =>
    method === 'eth_getLogs' && Array.isArray(answer)
      ? answer.filter(log => log.transactionHash !== hash)
      : undefined;
}
