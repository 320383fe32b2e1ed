import { expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { moveRows } from '#payments/settlement/moved-transactions.ts';
import { type Settlement, settlement } from '#payments/settlement/settlement.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { allDue, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer, hash } from '../../lab/payments-sessions.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const BY_AMOUNT = { matchedBy: 'amount', confirmations: 1 } as const;

bothDatabases('one transfer', databases => {
  const given = givenDatabase(databases, { isShared: false });

  const settle = <T>(work: (settle: Settlement) => Promise<T>): Promise<T> =>
    transaction(given.db, handle => work(settlement({ handle, seals: SEALED, now: RECORD_TIME + 90_000 })));
  const opened = () =>
    transaction(given.db, handle => sessionStore(handle, SEALED).open(aSession(given.owner)));

  test('cannot be assigned once it has paid another session', async () => {
    const [paid, other] = [await opened(), await opened()];
    const transfer = aTransfer();
    await settle(one => one.recordTransfer(paid, transfer, BY_AMOUNT));
    await transferStore(given.db).upsert(given.owner, transfer, RECORD_TIME);
    const [listed] = await transferStore(given.db).unconfirmed(allDue(transfer.chainId));
    const id = listed?.id ?? '';
    await transferStore(given.db).confirm(listed === undefined ? [] : [listed], RECORD_TIME);

    const assigned = await settle(one =>
      one.assign(given.owner, id, other, { actor: 'api_key:ak_1', reason: null }),
    );

    expect(assigned).toBeUndefined();
    expect(await transferStore(given.db).find(given.owner, id)).toMatchObject({ assignedAt: null });
    expect(await transactionStore(given.db).byHash(transfer.chainId, transfer.txHash)).toHaveLength(1);
  });

  test('whose log index another transfer takes in a new block keeps its session, and so does the other', async () => {
    const [first, second] = [await opened(), await opened()];
    const early = aTransfer({ amount: first.amountDue, logIndex: 3 });
    const later = { ...early, amount: second.amountDue, logIndex: 5 };
    const before = await settle(async one => [
      await one.recordTransfer(first, early, BY_AMOUNT),
      await one.recordTransfer(second, later, BY_AMOUNT),
    ]);
    const block = { blockNumber: 101, blockHash: hash(101) };

    const after = await settle(async one => [
      await one.recordTransfer(first, { ...early, ...block, logIndex: 5 }, BY_AMOUNT),
      await one.recordTransfer(second, { ...later, ...block, logIndex: 7 }, BY_AMOUNT),
    ]);

    expect(after.map(({ id, sessionId, logIndex }) => ({ id, sessionId, logIndex }))).toEqual([
      { id: before[0]?.id, sessionId: first.id, logIndex: 5 },
      { id: before[1]?.id, sessionId: second.id, logIndex: 7 },
    ]);
  });

  test('of two equal ones keeps its order when both move, and one without a transfer loses its index', async () => {
    const [first, second] = [await opened(), await opened()];
    const early = aTransfer({ logIndex: 3 });
    const [earlyRow, laterRow] = await settle(async one => [
      await one.recordTransfer(first, early, BY_AMOUNT),
      await one.recordTransfer(second, { ...early, logIndex: 5 }, BY_AMOUNT),
    ]);
    const stored = () => transactionStore(given.db).byHash(early.chainId, early.txHash);
    const moved = async (blockNumber: number, indexes: readonly number[]) => {
      const block = { blockNumber, blockHash: hash(blockNumber) };
      const transfers = indexes.map(logIndex => ({ ...early, ...block, logIndex }));
      const rows = await moveRows(transactionStore(given.db), await stored(), transfers);
      expect(await stored()).toEqual(rows);
      return Object.fromEntries(rows.map(({ id, logIndex }) => [id, logIndex]));
    };

    expect(await moved(101, [5, 7])).toEqual({ [`${earlyRow?.id}`]: 5, [`${laterRow?.id}`]: 7 });
    expect(await moved(102, [7])).toEqual({ [`${earlyRow?.id}`]: 7, [`${laterRow?.id}`]: null });
  });

  test('that was completed is not counted again when it moves to another block and log index', async () => {
    const session = await opened();
    const transfer = aTransfer();
    const done = await settle(async one =>
      one.complete((await one.recordTransfer(session, transfer, BY_AMOUNT)).id),
    );

    const moved = { ...transfer, logIndex: 8, blockNumber: 101, blockHash: hash(101) };
    const again = await settle(one => one.recordTransfer(session, moved, BY_AMOUNT));

    expect(again).toEqual({ ...done, logIndex: 8, blockNumber: 101, blockHash: hash(101) });
    expect(await transactionStore(given.db).ofSession(session.id)).toEqual([again]);
  });

  test('that was completed fails when another one takes its log index in another block', async () => {
    const [own, other] = [await opened(), await opened()];
    const transfer = aTransfer();
    const done = await settle(async one =>
      one.complete((await one.recordTransfer(own, transfer, BY_AMOUNT)).id),
    );

    const place = { blockNumber: 101, blockHash: hash(101) };
    await settle(one => one.recordTransfer(other, { ...transfer, ...place, amount: 1n }, BY_AMOUNT));

    expect(await transactionStore(given.db).ofSession(own.id)).toMatchObject([
      { id: done.id, status: 'failed', failureReason: 'reorged' },
    ]);
  });

  test('seen again for another session stays with the session it pays', async () => {
    const [own, other] = [await opened(), await opened()];
    const transfer = aTransfer();
    const seen = await settle(one => one.recordTransfer(own, transfer, BY_AMOUNT));

    const again = await settle(one => one.recordTransfer(other, transfer, BY_AMOUNT));

    expect(again).toEqual(seen);
  });
});
