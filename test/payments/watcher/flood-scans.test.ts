import { expect } from 'vitest';
import { floodingToken } from '../../support/flooding-token.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop, type ShopBehindNodes } from './watched-shop.ts';

/** Logs from which on a scan is remembered, and some more. */
const FLOOD = 1_200;

eachWatchedShop('scans of a flooded block', watchedTest => {
  const test = watchedTest
    /** Mines a block with a flood of transfers that pay nothing. */
    .extend('floodedBlock', ({ chain }) => async (ours: ShopBehindNodes): Promise<number> => {
      const flood = await floodingToken(chain);
      await flood({ from: 2, to: ours.recipient, count: FLOOD, amount: 1n });
      await chain.mine(1);
      return chain.head();
    })
    /** Lets each answer with logs take a second. Returns the first block of each request, as they are asked. */
    .extend('slowLogs', () => (ours: ShopBehindNodes): number[] => {
      const asked: number[] = [];
      ours.node.tell(({ method, params }) => {
        if (method !== 'eth_getLogs') return undefined;
        asked.push(Number(Object(params?.[0]).fromBlock));
        ours.clock.advance(1_000);
        return undefined;
      });
      return asked;
    });

  test('are not repeated in the next looks, which find a payment after it', async ({
    chain,
    behindNodes,
    floodedBlock,
    slowLogs,
  }) => {
    await using ours = await behindNodes();
    const { id, amountDue } = await ours.open();
    await ours.round();
    const flooded = await floodedBlock(ours);
    const asked = slowLogs(ours);
    await ours.look();
    const before = asked.splice(0);
    await ours.payment(amountDue);
    await chain.mine(1);

    await ours.look();

    expect(Math.min(...before)).toBeLessThanOrEqual(flooded);
    expect(asked).toEqual([flooded + 1]);
    expect(await ours.session(id)).toMatchObject({ paymentStatus: 'confirming' });
  });

  test('are repeated after a while, which finds a log that was late', async ({
    chain,
    behindNodes,
    floodedBlock,
    slowLogs,
  }) => {
    await using ours = await behindNodes();
    const { id, amountDue } = await ours.open();
    await ours.round();
    const { hash } = await ours.payment(amountDue);
    await floodedBlock(ours);
    ours.node.tell(({ method }, answer) =>
      method === 'eth_getLogs' ? withoutLogsOf(hash, answer, () => ours.clock.advance(1_000)) : undefined,
    );
    await ours.look();
    const atFirst = await ours.session(id);
    slowLogs(ours);
    await chain.mine(1);
    await ours.look();
    const soon = await ours.session(id);
    ours.clock.advance(30_000);
    await chain.mine(1);

    await ours.look();

    expect([atFirst.paymentStatus, soon.paymentStatus]).toEqual(['awaiting_payment', 'awaiting_payment']);
    expect(await ours.session(id)).not.toMatchObject({ paymentStatus: 'awaiting_payment' });
  });

  test('are repeated when a reorganisation replaces it, which finds a payment in the new branch', async ({
    chain,
    behindNodes,
    floodedBlock,
    slowLogs,
  }) => {
    await using ours = await behindNodes();
    const { id, amountDue } = await ours.open();
    await ours.round();
    const before = await chain.snapshot();
    const { raw } = await ours.payment(amountDue);
    await chain.call('anvil_dropAllTransactions');
    await floodedBlock(ours);
    slowLogs(ours);
    await ours.look();
    const atFirst = await ours.session(id);

    await chain.fork(before, BLOCKS_TO_SETTLE, [raw]);
    await ours.look();

    expect(atFirst).toMatchObject({ paymentStatus: 'awaiting_payment' });
    expect(await ours.session(id)).not.toMatchObject({ paymentStatus: 'awaiting_payment' });
  });
});

/** The logs in an answer without those of one transaction. */
function withoutLogsOf(hash: string, answer: unknown, told: () => void): unknown {
  told();
  return Array.isArray(answer) ? answer.filter(log => Object(log).transactionHash !== hash) : answer;
}
