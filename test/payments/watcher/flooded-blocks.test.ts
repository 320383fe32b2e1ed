import { expect } from 'vitest';
import { floodingToken } from '../../support/flooding-token.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { eachWatchedShop, type ShopBehindNodes } from './watched-shop.ts';

/** The logs of all these transfers are longer than an answer, and those of one transaction are not. */
const MAX_ANSWER_BYTES = 40_000;
const FLOODS = 4;
const DUST = 40;

eachWatchedShop('a block with more logs than an answer can hold', watchedTest => {
  const test = watchedTest
    /** Mines one block with dust in several transactions and, last, a payment. */
    .extend('dustyBlock', ({ chain }) => async (ours: ShopBehindNodes, amountDue: bigint) => {
      const flood = await floodingToken(chain);
      for (let from = 2; from < 2 + FLOODS; from++) {
        await flood({ from, to: ours.recipient, count: DUST, amount: 1n });
      }
      await ours.payment(amountDue);
      await chain.mine(1);
    });

  test('for one token and one recipient is read receipt by receipt, and no other block waits', async ({
    chain,
    behindNodes,
    dustyBlock,
  }) => {
    await using ours = await behindNodes({ maxAnswerBytes: MAX_ANSWER_BYTES });
    const [within, after] = [await ours.open(), await ours.open()];
    await ours.round();
    await dustyBlock(ours, within.amountDue);
    await chain.pay({ from: 7, to: ours.recipient, amount: after.amountDue });
    await chain.mine(1);

    await ours.look();
    const first = await ours.session(after.id);
    await ours.settle();

    expect(first).toMatchObject({ paymentStatus: 'confirming' });
    expect([await ours.session(within.id), await ours.session(after.id)]).toMatchObject([
      { status: 'completed' },
      { status: 'completed' },
    ]);
    const { total } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 });
    expect(total).toBe(FLOODS * DUST);
  });

  test('is asked for again after 1, 2 and 4 minutes while its receipts are refused, and read afterwards', async ({
    chain,
    behindNodes,
    dustyBlock,
  }) => {
    await using ours = await behindNodes({ maxAnswerBytes: MAX_ANSWER_BYTES });
    const session = await ours.open();
    await ours.round();
    await dustyBlock(ours, session.amountDue);
    let asked = 0;
    ours.node.tell(({ method }) => {
      if (method !== 'eth_getTransactionReceipt') return undefined;
      asked += 1;
      return new Error('not available');
    });

    const minutes: number[] = [];
    for (let minute = 0; minute <= 8; minute++) {
      const before = asked;
      await ours.look();
      await ours.look();
      if (asked > before) minutes.push(minute);
      ours.clock.advance(60_000);
      await chain.mine(1);
    }
    ours.node.tell(undefined);
    ours.clock.advance(8 * 60_000);
    await ours.settle();

    expect(minutes).toEqual([0, 1, 3, 7]);
    expect(await ours.session(session.id)).toMatchObject({ status: 'completed' });
  });

  test('is divided by recipients, so that only the flooded one waits', async ({
    chain,
    behindNodes,
    dustyBlock,
  }) => {
    await using ours = await behindNodes({ maxAnswerBytes: MAX_ANSWER_BYTES });
    const [flooded, other] = [
      await ours.open(),
      await ours.open({ recipientAddress: `0x${'e7'.repeat(20)}` }),
    ];
    await ours.round();
    await chain.pay({ from: 7, to: other.recipientAddress, amount: other.amountDue });
    await dustyBlock(ours, flooded.amountDue);
    ours.node.tell(({ method }) =>
      method === 'eth_getTransactionReceipt' ? new Error('not available') : undefined,
    );

    await ours.look();

    expect(await ours.session(other.id)).toMatchObject({ paymentStatus: 'confirming' });
    expect(await ours.session(flooded.id)).toMatchObject({ paymentStatus: 'awaiting_payment' });
  });

  test('is not suspected while a node refuses the logs of the newest block twice, as a lagging one does', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const { id, amountDue } = await ours.open();
    await ours.round();
    await ours.payment(amountDue);
    await chain.mine(1);
    const newest = await chain.head();
    ours.node.tell(({ method, params }) =>
      method === 'eth_getLogs' && Number(Object(params?.[0]).toBlock) >= newest
        ? new Error('block range extends beyond current head block')
        : undefined,
    );

    await ours.round();
    await ours.round();
    const during = await ours.db('set_aside_blocks');
    ours.node.tell(undefined);
    await ours.round();

    expect(during).toEqual([]);
    expect(await ours.session(id)).toMatchObject({ paymentStatus: 'confirming' });
    expect(await ours.db('set_aside_blocks')).toEqual([]);
  });

  test('is not suspected when a node refuses all logs, and another node is asked', async ({
    chain,
    behindNodes,
  }) => {
    await using alone = await behindNodes();
    await using ours = await behindNodes({ nodes: 2 });
    const { id, amountDue } = await ours.open();
    await alone.open();
    for (const one of [alone, ours]) {
      await one.round();
      one.node.tell(({ method }) => (method === 'eth_getLogs' ? new Error('refused') : undefined));
    }
    await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    await chain.mine(1);

    const failure = await alone.look().catch((error: unknown) => error);
    await ours.round();

    expect(failure).toBeInstanceOf(Error);
    expect(await ours.session(id)).toMatchObject({ paymentStatus: 'confirming' });
    for (const { db } of [alone, ours]) expect(await db('set_aside_blocks')).toEqual([]);
  });
});
