import { numberToHex } from 'viem';
import { expect } from 'vitest';
import type { Lie } from '../../lab/faulty-node.ts';
import { BLOCKS_TO_SETTLE, paymentChain, watcherOf } from './setting.ts';
import { eachWatchedShop, never } from './watched-shop.ts';

eachWatchedShop('reorganisations', watchedTest => {
  const test = watchedTest
    /** Completes a session; returns its payment and a snapshot from before it. */
    .extend('settled', async ({ chain, ours }) => {
      const session = await ours.open();
      const before = await chain.snapshot();
      const paid = await ours.payment(session.amountDue);
      await chain.mine(BLOCKS_TO_SETTLE);
      await ours.round();
      return { session, before, paid };
    });

  test('a reorganisation before the final depth withdraws a payment without an event; mined again, it settles once', async ({
    chain,
    ours,
  }) => {
    const session = await ours.open();
    const before = await chain.snapshot();
    const paid = await ours.payment(session.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE - 1);
    await ours.round();
    const seen = await ours.session(session.id);

    await chain.fork(before, BLOCKS_TO_SETTLE);
    await ours.round();
    const gone = await ours.session(session.id);
    const told = await ours.events();
    await chain.call('eth_sendRawTransaction', paid.raw);
    await ours.settle();

    expect(seen).toMatchObject({ paymentStatus: 'confirming', confirmations: BLOCKS_TO_SETTLE - 2 });
    expect(gone).toMatchObject({ status: 'active', paymentStatus: 'awaiting_payment', confirmations: 0 });
    expect(told).toEqual([]);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(await ours.payments(session.id)).toHaveLength(1);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('a payment withdrawn by a reorganisation is looked up in the same round', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const session = await ours.open();
    const before = await chain.snapshot();
    await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE - 1);
    await ours.round();
    const [seen] = await ours.payments(session.id);

    await chain.fork(before, BLOCKS_TO_SETTLE);
    const earlier = ours.node.calls.length;
    await ours.round();

    expect(seen).toMatchObject({ status: 'confirming' });
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'pending' }]);
    expect(ours.node.calls.slice(earlier)).toContain('eth_getTransactionByHash');
  });

  test('a completed payment that the chain drops is reported as failed, and its session is marked', async ({
    chain,
    ours,
    settled,
  }) => {
    const { session, before } = settled;

    await chain.fork(before, BLOCKS_TO_SETTLE);
    await ours.round();
    const early = await ours.session(session.id);
    await chain.mine(1);
    await ours.round();

    const [lost] = await ours.payments(session.id);
    expect(early).toMatchObject({ status: 'completed', isReorged: false });
    expect(lost).toMatchObject({ status: 'failed', failureReason: 'reorged' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: true });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'payment.failed']);
  });

  test('a payment dropped while no watcher ran is reported, even many blocks later', async ({
    chain,
    ours,
    settled,
  }) => {
    const { session, before } = settled;

    await chain.fork(before, 700);
    const restarted = watcherOf({
      chain: paymentChain(chain),
      rpcUrls: [chain.rpcUrl],
      db: ours.db,
      clock: ours.clock,
    });
    await ours.watcher.resign();
    await restarted.runOnce(never);

    const [lost] = await ours.payments(session.id);
    expect(lost).toMatchObject({ status: 'failed', failureReason: 'reorged' });
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: true });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'payment.failed']);
  });

  test('a dropped payment is reported even when the node at first cannot show its block or the head', async ({
    chain,
    behindNodes,
  }) => {
    const eventsAfter = async (lieOf: (paidIn: number) => Promise<Lie>) => {
      await using ours = await behindNodes();
      const session = await ours.open();
      const before = await chain.snapshot();
      await chain.pay({ from: 1, to: ours.recipient, amount: session.amountDue });
      await chain.mine(BLOCKS_TO_SETTLE);
      await ours.round();
      const paidIn = (await ours.payments(session.id))[0]?.blockNumber ?? -1;

      await chain.fork(before, 200);
      ours.node.tell(await lieOf(paidIn));
      await ours.round();
      ours.node.tell(undefined);
      await ours.round();
      await chain.mine(1);
      await ours.round();
      return ours.events();
    };

    const withoutBlock = await eventsAfter(
      async paidIn =>
        ({ method, params }) =>
          method === 'eth_getBlockByNumber' && params?.[0] === numberToHex(paidIn) ? null : undefined,
    );
    const withoutHead = await eventsAfter(async () => {
      const head = await chain.call('eth_getBlockByNumber', 'latest', false);
      const replaced = { ...Object(head), hash: `0x${'9'.repeat(64)}` };
      return ({ method, params }) =>
        method === 'eth_getBlockByNumber' && params?.[0] === 'latest' ? replaced : undefined;
    });

    const told = ['payment.completed', 'checkout.completed', 'payment.failed'];
    expect({ withoutBlock, withoutHead }).toEqual({ withoutBlock: told, withoutHead: told });
  });

  test('a completed payment that comes back in another block at another log index changes nothing', async ({
    chain,
    ours,
    settled,
  }) => {
    const { session, before, paid } = settled;
    const [first] = await ours.payments(session.id);

    // Another transfer comes first in the new block.
    await chain.fork(before, 0);
    await chain.pay({ from: 5, to: ours.recipient, amount: 1n, tip: 50 });
    await chain.call('eth_sendRawTransaction', paid.raw);
    await chain.mine(BLOCKS_TO_SETTLE + 2);
    await ours.round();
    await ours.round();

    const payments = await ours.payments(session.id);
    expect(payments).toHaveLength(1);
    expect(payments[0]).toMatchObject({ status: 'completed', txHash: paid.hash, logIndex: 1 });
    expect(first?.logIndex).toBe(0);
    expect(payments[0]?.blockHash).not.toBe(first?.blockHash);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed', 'transfer.unmatched']);
  });

  test('a payment reported as lost and seen later is completed after all', async ({
    chain,
    ours,
    settled,
  }) => {
    const { session, before, paid } = settled;
    await chain.fork(before, BLOCKS_TO_SETTLE + 1);
    await ours.round();
    const lost = await ours.session(session.id);

    await chain.call('eth_sendRawTransaction', paid.raw);
    await ours.settle();

    const payments = await ours.payments(session.id);
    expect(lost.isReorged).toBe(true);
    expect(payments.map(one => one.status)).toEqual(['completed']);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed', isReorged: false });
  });
});
