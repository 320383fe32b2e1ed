import { expect, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { NewTransfer } from '#payments/model/transfer.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { seals as sealsOf } from '#payments/secrets/sealed.ts';
import { droppedTransfers, transferDecisions } from '#payments/settlement/transfer-decisions.ts';
import { type PlacedTransfer, transferStore } from '#payments/store/transfer-store.ts';
import { allDue, RECORD_TIME } from '../../lab/payments-records.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { bothDatabases } from '../../support/databases.ts';
import { insertOwner } from '../../support/given-database.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { aPayment, someHash } from '../../support/payments-api.ts';

const seals = sealsOf(['a secret of tests of dropped transfers']);
const DECISION = { actor: 'api_key:ak_1', reason: 'Ours', now: RECORD_TIME } as const;

bothDatabases('a decided transfer', databases => {
  async function given() {
    const db = openDatabase(await databases.create('payments'));
    const owner = await insertOwner(db);
    const store = transferStore(db);
    const txHash = someHash();
    const inBlock = (blockHash: string, logIndex: number, amount: bigint): NewTransfer =>
      aPayment({ txHash, blockHash, logIndex, amount, blockTime: RECORD_TIME });
    return {
      db,
      owner,
      store,
      inBlock,
      /** Records transfers as a watcher does that finds them in a block, and confirms them. */
      async found(...transfers: readonly NewTransfer[]) {
        const owned = transfers.map(transfer => ({ owner, transfer }));
        await transaction(db, async handle => {
          await droppedTransfers(handle).restore(owned);
          await transferStore(handle).upsertAll(owned, RECORD_TIME);
        });
        for (const one of await store.unconfirmed(allDue(transfers[0]?.chainId ?? 0)))
          await store.confirm([one], RECORD_TIME);
      },
      dropped: (transfers: readonly PlacedTransfer[]) =>
        transaction(db, handle => droppedTransfers(handle).drop(transfers)),
      async listed() {
        const { data } = await listedTransfers(db, owner, {}, { page: 1, limit: 9 });
        return data.map(({ id, logIndex, amount, dismissedReason }) => ({
          id,
          logIndex,
          amount,
          dismissedReason,
        }));
      },
    };
  }

  test('keeps its decision at another log index, and gives it to no transfer that takes its old one', async () => {
    const { db, inBlock, found, listed, dropped } = await given();
    const [one, other] = [someHash(), someHash()];
    await found(inBlock(one, 3, 10n), inBlock(one, 4, 20n));
    const before = await listed();
    const ours = before.find(({ amount }) => amount === 10n)?.id ?? '';
    await transferDecisions(db).dismiss(ours, DECISION);

    await found(inBlock(other, 2, 10n), inBlock(other, 3, 20n));
    await dropped(before.map(({ id }) => ({ id, blockHash: one })));

    expect((await listed()).toSorted((a, b) => a.logIndex - b.logIndex)).toEqual([
      { id: ours, logIndex: 2, amount: 10n, dismissedReason: 'Ours' },
      { id: expect.any(String), logIndex: 3, amount: 20n, dismissedReason: null },
    ]);
    await db.destroy();
  });

  test('is kept apart from an assigned one of the same amount when both change their log index', async () => {
    const { db, inBlock, found, listed } = await given();
    const [one, other] = [someHash(), someHash()];
    await found(inBlock(one, 3, 10n), inBlock(one, 4, 10n));
    const before = await listed();
    const [assigned, dismissed] = [3, 4].map(at => before.find(({ logIndex }) => logIndex === at)?.id ?? '');
    const payment = { sessionId: 'cs_1', transactionId: 'txn_1' };
    await transferDecisions(db).assign(assigned ?? '', payment, { ...DECISION, reason: null });
    await transferDecisions(db).dismiss(dismissed ?? '', DECISION);

    await found(inBlock(other, 2, 10n), inBlock(other, 3, 10n));

    expect((await listed()).toSorted((a, b) => a.logIndex - b.logIndex)).toEqual([
      { id: assigned, logIndex: 2, amount: 10n, dismissedReason: null },
      { id: dismissed, logIndex: 3, amount: 10n, dismissedReason: 'Ours' },
    ]);
    await db.destroy();
  });

  test('keeps the refunds that were completed while the chain had dropped it, and returns in the same block', async () => {
    const { db, owner, inBlock, found, listed, dropped } = await given();
    const block = someHash();
    await found(inBlock(block, 3, 10n), inBlock(block, 4, 10n));
    const [{ id } = { id: '' }, { id: undecided } = { id: '' }] = await listed();
    const refund = aRefund(owner, { unmatchedTransferId: id, amount: 10n });
    const moves = (work: (moves: ReturnType<typeof refundMoves>) => Promise<unknown>) =>
      transaction(db, handle => work(refundMoves({ handle, seals, now: RECORD_TIME })));
    await moves(one => one.create(refund));

    await dropped([id, undecided].map(one => ({ id: one, blockHash: block })));
    const meanwhile = await listed();
    await moves(one => one.seen(refund.id, aPayment({ blockTime: RECORD_TIME }), 2));
    await found(inBlock(block, 3, 10n), inBlock(block, 4, 10n));

    expect(meanwhile).toEqual([]);
    expect(
      (await listedTransfers(db, owner, { status: 'refunded' }, { page: 1, limit: 9 })).data,
    ).toMatchObject([{ id, amountRefunded: 10n }]);
    expect(await listed()).toHaveLength(2);
    expect((await listed()).map(one => one.id)).not.toContain(undecided);
    await db.destroy();
  });
});
