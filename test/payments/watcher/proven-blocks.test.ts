import { expect } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { addressOf } from '../../lab/payment-chain.ts';
import { CONTRADICTIONS, hidesLogs, together } from './proof-lies.ts';
import { BLOCKS_TO_SETTLE, paymentChain, watcherOf } from './setting.ts';
import { eachWatchedShop, never, type ShopBehindNodes } from './watched-shop.ts';

const READS = ['eth_getBlockByHash', 'eth_getBlockReceipts', 'eth_getTransactionReceipt'];
const ALWAYS = { changes: { prove: 'always' } } as const;

eachWatchedShop('payments that all nodes leave out of their logs', watchedTest => {
  const test = watchedTest
    /** Rounds with a new block each, until everything that is found is settled. */
    .extend('settled', ({ chain }) => async (ours: ShopBehindNodes) => {
      for (let count = 0; count < BLOCKS_TO_SETTLE; count++) {
        await chain.mine();
        await ours.round();
      }
      await ours.round();
    })
    /** A shop whose nodes show no logs, with a session. */
    .extend('hidden', ({ behindNodes }) => async (options: Parameters<typeof behindNodes>[0] = ALWAYS) => {
      const ours = await behindNodes({ ...ALWAYS, ...options });
      ours.node.tell(hidesLogs);
      ours.second.tell(hidesLogs);
      const session = await ours.open();
      await ours.round();
      return { ours, session };
    });

  const reads = (ours: ShopBehindNodes) => ours.node.calls.filter(one => READS.includes(one));
  const proven = async (ours: ShopBehindNodes, chainId: number) =>
    (await cursorStore(ours.db).find(chainId))?.proven;

  test('are found and proven with one read of each block', async ({ chain, hidden, settled }) => {
    const { ours, session } = await hidden();
    await using _ = ours;
    const before = reads(ours).length;

    await ours.payment(session.amountDue);
    await settled(ours);

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: true }]);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(reads(ours).slice(before)).toEqual([
      'eth_getBlockByHash',
      'eth_getBlockReceipts',
      ...Array.from({ length: BLOCKS_TO_SETTLE - 1 }, () => 'eth_getBlockByHash'),
    ]);
    expect(await proven(ours, chain.chainId)).toMatchObject({ number: await chain.head() });
  });

  test('are looked for in the receipts only where a bloom filter does not exclude them', async ({
    chain,
    hidden,
    settled,
  }) => {
    const { ours } = await hidden();
    await using _ = ours;
    const receipts = () => ours.node.calls.filter(one => one === 'eth_getBlockReceipts').length;
    const payOther = async () => {
      await chain.pay({ from: 2, to: `${chain.accounts[3]}`, amount: 5n });
      await settled(ours);
      return receipts();
    };

    const before = receipts();
    const counts = [await payOther(), await payOther()];
    await ours.payment(1n);
    await settled(ours);

    // Those before the session's first block have shown that the chain fills its filters.
    expect(counts).toEqual([before, before]);
    expect(receipts()).toBe(before + 1);
  });

  test('are missed without proofs of every block', async ({ hidden, settled }) => {
    const { ours, session } = await hidden({ changes: { prove: 'findings' } });
    await using _ = ours;

    await ours.payment(session.amountDue);
    await settled(ours);

    expect(await ours.payments(session.id)).toEqual([]);
  });

  test.for(CONTRADICTIONS)(
    'are found by the contents of a second node, next to one that %s',
    async ([, lie], { hidden, settled }) => {
      const { ours, session } = await hidden({ nodes: 2 });
      await using _ = ours;
      await ours.payment(1n);
      await settled(ours);

      ours.node.tell(together(hidesLogs, lie));
      await ours.payment(session.amountDue);
      await settled(ours);

      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect(ours.watcher.status().contradictions.current()).toHaveLength(1);
    },
  );

  test.for([
    ...CONTRADICTIONS,
    ['refuses blocks', ({ method }) => (READS.includes(method) ? new Error('refused') : undefined)],
    ['does not show the block', ({ method }) => (method === 'eth_getBlockByHash' ? null : undefined)],
    [
      'changes a header',
      ({ method }, answer) =>
        method === 'eth_getBlockByHash'
          ? { ...Object(answer), logsBloom: `0x${'00'.repeat(256)}` }
          : undefined,
    ],
  ] satisfies typeof CONTRADICTIONS)(
    'are found late when the only node %s for a while',
    async ([, lie], { chain, hidden, settled }) => {
      const { ours, session } = await hidden();
      await using _ = ours;
      await ours.payment(1n);
      await settled(ours);
      const last = await chain.head();

      ours.node.tell(together(hidesLogs, lie));
      await ours.payment(session.amountDue);
      await settled(ours);
      const during = await ours.session(session.id);
      const reached = await proven(ours, chain.chainId);
      ours.node.tell(hidesLogs);
      ours.clock.advance(60_000);
      await ours.round();
      await settled(ours);

      expect(during.status).toBe('active');
      expect(reached).toMatchObject({ number: last });
      expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
      expect(await proven(ours, chain.chainId)).toMatchObject({ number: await chain.head() });
    },
  );

  test('are found in blocks from before the first look', async ({ behindNodes, settled }) => {
    await using ours = await behindNodes(ALWAYS);
    const session = await ours.open();
    ours.node.tell(hidesLogs);

    await ours.payment(session.amountDue);
    await settled(ours);

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('are found by the next process, which reads only what is new', async ({ chain, hidden, settled }) => {
    const { ours, session } = await hidden();
    await using _ = ours;
    await settled(ours);
    await ours.watcher.resign();
    const { db, clock, node } = ours;
    const before = reads(ours).length;

    await ours.payment(session.amountDue);
    await chain.mine(BLOCKS_TO_SETTLE);
    const next = watcherOf({
      chain: { ...paymentChain(chain), prove: 'always' },
      rpcUrls: [node.url],
      db,
      clock,
    });
    for (let count = 0; count < 3; count++) await next.runOnce(never);

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
    expect(
      reads(ours)
        .slice(before)
        .filter(one => one === 'eth_getBlockByHash'),
    ).toHaveLength(BLOCKS_TO_SETTLE);
  });

  test('are found in the block that took the place of another one', async ({ chain, hidden, settled }) => {
    const { ours, session } = await hidden();
    await using _ = ours;
    const snapshot = await chain.snapshot();
    const { raw } = await ours.payment(session.amountDue);
    await chain.mine();
    await ours.round();
    const first = await ours.payments(session.id);

    await chain.fork(snapshot, 3, [raw]);
    await ours.round();
    await settled(ours);

    const [payment] = await ours.payments(session.id);
    expect(first).toMatchObject([{ status: 'confirming' }]);
    expect(payment).toMatchObject({ status: 'completed', proven: true });
    expect(payment?.blockHash).not.toBe(first[0]?.blockHash);
  });

  test('are found when a node leaves their transaction out of its block', async ({
    chain,
    behindNodes,
    settled,
  }) => {
    await using ours = await behindNodes(ALWAYS);
    const session = await ours.open({ tokenAddress: NATIVE_COIN });
    await ours.round();
    ours.node.tell(({ method }, answer) =>
      method === 'eth_getBlockByNumber' ? { ...Object(answer), transactions: [] } : undefined,
    );

    await chain.send({ from: 4, to: addressOf(ours.recipient), value: session.amountDue });
    await settled(ours);

    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('delay no other payment while their blocks cannot be had', async ({ behindNodes, settled }) => {
    await using ours = await behindNodes(ALWAYS);
    const session = await ours.open();
    await ours.round();

    ours.node.tell(({ method }) => (method === 'eth_getBlockByHash' ? new Error('refused') : undefined));
    await ours.payment(session.amountDue);
    await settled(ours);

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'completed', proven: false }]);
  });
});
