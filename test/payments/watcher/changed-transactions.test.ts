import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { TRANSFER } from '#evm/coin-logs.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE, seals } from './setting.ts';
import { eachWatchedShop } from './watched-shop.ts';

/*
 * A contract may behave differently in another block, so a transaction that comes back after a reorganisation may make
 * other payments than before.
 */

eachWatchedShop('transactions that come back with other transfers', watchedTest => {
  const test = watchedTest
    /** Makes every call of the token transfer these amounts to the shop, one log each. */
    .extend('tokenPays', ({ chain, ours }) => (amounts: readonly bigint[]) => {
      const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0');
      const log = (amount: bigint) =>
        `7f${word(amount)}6000527f${word(ours.recipient)}337f${TRANSFER.slice(2)}60206000a3`;
      return chain.call('anvil_setCode', chain.token, `0x${amounts.map(log).join('')}00`);
    })
    /** Mines a transaction that pays `before`, then mines it again in other blocks where it pays `after`. */
    .extend(
      'remined',
      ({ chain, ours, tokenPays }) =>
        async (
          before: readonly bigint[],
          after: readonly bigint[],
          { blocks, meanwhile }: { blocks: number; meanwhile?: () => Promise<unknown> },
        ) => {
          const snapshot = await chain.snapshot();
          await tokenPays(before);
          const { hash, raw } = await chain.send({ from: 1, to: chain.token });
          await chain.mine(blocks);
          await ours.round();
          await meanwhile?.();
          await chain.fork(snapshot, 0);
          await tokenPays(after);
          await chain.call('eth_sendRawTransaction', raw);
          await chain.mine(blocks + BLOCKS_TO_SETTLE + 1);
          await ours.round();
          await ours.round();
          return hash;
        },
    );

  test('a transfer whose log index another takes is withdrawn, and the other one is settled', async ({
    ours,
    remined,
  }) => {
    const [first, second] = [await ours.open(), await ours.open()];

    await remined([first.amountDue, second.amountDue], [second.amountDue], { blocks: 1 });

    expect(await ours.session(first.id)).toMatchObject({ status: 'active', amountReceived: 0n });
    expect(await ours.session(second.id)).toMatchObject({ status: 'completed' });
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('a completed payment that its transaction no longer makes fails as reorged', async ({
    ours,
    remined,
  }) => {
    const [first, second] = [await ours.open(), await ours.open()];

    await remined([first.amountDue, second.amountDue], [second.amountDue], { blocks: BLOCKS_TO_SETTLE });

    expect(await ours.payments(first.id)).toMatchObject([{ status: 'failed', failureReason: 'reorged' }]);
    expect(await ours.session(first.id)).toMatchObject({ status: 'completed', isReorged: true });
    expect(await ours.payments(second.id)).toMatchObject([{ status: 'completed', logIndex: 0 }]);
    expect(await ours.session(second.id)).toMatchObject({ status: 'completed', isReorged: false });
  });

  test('a listed transfer that comes back at another log index is listed once', async ({ ours, remined }) => {
    await ours.open();

    const hash = await remined([1n, 77n], [77n], { blocks: BLOCKS_TO_SETTLE });

    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
    expect(data.map(one => [one.txHash, one.logIndex, one.amount])).toEqual([[hash, 0, 77n]]);
  });

  test('a transfer that comes back at another log index before it is listed is listed once', async ({
    ours,
    remined,
  }) => {
    await ours.open();

    await remined([77n], [77n, 77n, 1n], { blocks: 1 });

    const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
    expect(data.map(one => [one.logIndex, one.amount]).sort()).toEqual([
      [0, 77n],
      [1, 77n],
      [2, 1n],
    ]);
  });

  test('an open transfer that takes the log index of an assigned one is listed, and the other one stays assigned', async ({
    ours,
    remined,
  }) => {
    const session = await ours.open();
    const listed = async () => {
      const { data } = await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 10 });
      return data.toSorted((a, b) => a.logIndex - b.logIndex);
    };
    const assign = async () => {
      const id = (await listed()).find(({ amount }) => amount === 77n)?.id ?? '';
      return transaction(ours.db, handle =>
        settlement({ handle, seals, now: ours.clock.now() }).assign(ours.owner, id, session, {
          actor: 'api_key:ak_1',
          reason: null,
        }),
      );
    };

    await remined([1n, 77n, 5n], [77n, 5n], { blocks: BLOCKS_TO_SETTLE, meanwhile: assign });

    const [payment] = await ours.payments(session.id);
    expect(payment).toMatchObject({ status: 'completed', logIndex: 0, amount: 77n });
    expect(await listed()).toMatchObject([
      { logIndex: 0, amount: 77n, transactionId: payment?.id, blockHash: payment?.blockHash },
      { logIndex: 1, amount: 5n, assignedAt: null },
    ]);
  });
});
