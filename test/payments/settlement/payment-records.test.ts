import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { checkoutExpiredData } from '#payments/events/event-data.ts';
import { eventStore } from '#payments/events/event-store.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { PaymentTransaction } from '#payments/model/payment-transaction.ts';
import { foundTransactions } from '#payments/search/transaction-search.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { unseen } from '#payments/settlement/settling.ts';
import { transferDecisions } from '#payments/settlement/transfer-decisions.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { type TransactionFilters, transactionStore } from '#payments/store/transaction-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { watchedPayments } from '#payments/store/watched-payments.ts';
import { allDue, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer, hash } from '../../lab/payments-sessions.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const ALL = { page: 1, limit: 100 };

eachPaymentsDatabase('records of payments', ownedTest => {
  const test = ownedTest
    .extend('session', ({ db, owner }) =>
      transaction(db, handle => sessionStore(handle, SEALED).open(aSession(owner))),
    )
    .extend(
      'recorded',
      ({ db, session }) =>
        async (id: string, changes: Partial<PaymentTransaction> = {}) => {
          const claim = unseen(session, { id, txHash: hash(1), matchedBy: 'wallet' }, RECORD_TIME);
          const whole = { ...claim, ...changes };
          await transactionStore(db).insert(whole);
          return whole;
        },
    );
  const inBlock = { logIndex: 3, blockNumber: 100, blockHash: hash(100), blockTime: RECORD_TIME } as const;

  test('a transaction is found as written, and only by its owner', async ({
    db,
    owner,
    stranger,
    recorded,
  }) => {
    const store = transactionStore(db);
    const whole = await recorded('txn_1', {
      ...inBlock,
      status: 'completed',
      amount: 2n ** 256n - 1n,
      sender: `0x${'aa'.repeat(20)}`,
      overpaidAmount: 5n,
      isLate: true,
      nonce: 7,
      confirmedAt: RECORD_TIME,
      completedAt: RECORD_TIME,
    });
    const changed = { ...whole, status: 'failed' as const, failureReason: 'reorged' as const, nonce: null };
    await store.update(changed);

    expect(await store.find(owner, 'txn_1')).toEqual(changed);
    expect(await store.find(stranger, 'txn_1')).toBeUndefined();
    expect(await store.byLog(whole.chainId, hash(1), 3)).toEqual(changed);
    expect(await store.byLog(whole.chainId, hash(1), 4)).toBeUndefined();
    expect(await store.ofSession(whole.sessionId)).toEqual([changed]);
  });

  test('a transfer cannot be recorded twice, and a hash cannot be claimed twice for a session', async ({
    db,
    session,
    recorded,
  }) => {
    await recorded('txn_1', { ...inBlock, sender: 'a' });
    await recorded('txn_2');

    await expect(recorded('txn_3', { ...inBlock, sender: 'b' })).rejects.toThrow();
    await expect(recorded('txn_4')).rejects.toThrow();
    expect(await transactionStore(db).byHash(session.chainId, hash(1))).toHaveLength(2);
  });

  test('transactions are listed newest first, with every filter', async ({
    db,
    owner,
    stranger,
    session,
    recorded,
  }) => {
    const store = transactionStore(db);
    await recorded('txn_1', { ...inBlock, status: 'completed', createdAt: RECORD_TIME - 5 });
    await recorded('txn_2', { status: 'pending', txHash: hash(2) });
    await recorded('txn_3', { status: 'confirming', txHash: hash(3), chainId: 1 });
    const found = (of: Owner, filters: TransactionFilters, limit = 100) =>
      foundTransactions({ handle: db, seals: SEALED }, { owner: of, text: undefined }, filters, {
        page: 1,
        limit,
      });
    const listed = async (filters: TransactionFilters) => {
      const { data, total } = await found(owner, filters);
      expect(total).toBe(data.length);
      return data.map(({ id }) => id);
    };

    expect(await listed({})).toEqual(['txn_3', 'txn_2', 'txn_1']);
    expect(await listed({ status: 'completed' })).toEqual(['txn_1']);
    expect(await listed({ chainId: 1 })).toEqual(['txn_3']);
    expect(await listed({ sessionId: 'cs_none' })).toEqual([]);
    expect(await listed({ paymentLinkId: 'pl_none' })).toEqual([]);
    expect(await listed({ from: RECORD_TIME })).toEqual(['txn_3', 'txn_2']);
    expect(await listed({ to: RECORD_TIME })).toEqual(['txn_1']);
    expect((await found(owner, {}, 1)).data).toHaveLength(1);
    expect(await found(stranger, {})).toMatchObject({ data: [], total: 0 });
    expect((await store.open(session.chainId)).map(({ id }) => id)).toEqual(['txn_2']);
    const completedIn = async (blockHash: string) =>
      (await watchedPayments(db).completedIn(session.chainId, [{ blockNumber: 100, blockHash }])).map(
        ({ id }) => id,
      );
    expect(await completedIn(hash(100))).toEqual(['txn_1']);
    expect(await completedIn(hash(101))).toEqual([]);
  });

  test('an unmatched transfer is listed once confirmed, and must be confirmed again in another block', async ({
    db,
    owner,
    stranger,
  }) => {
    const store = transferStore(db);
    const transfer = aTransfer();
    await store.upsert(owner, transfer, RECORD_TIME);
    await store.upsert(owner, transfer, RECORD_TIME + 1);
    const [first, ...rest] = await store.unconfirmed(allDue(transfer.chainId));
    const id = first?.id ?? '';
    const hidden = await listedTransfers(db, owner, {}, ALL);
    await store.confirm(first === undefined ? [] : [first], RECORD_TIME + 2);
    const shown = await store.find(owner, id);

    await store.upsert(owner, { ...transfer, blockHash: hash(101), blockNumber: 101 }, RECORD_TIME + 3);

    expect(rest).toEqual([]);
    expect(hidden.total).toBe(0);
    expect(shown).toMatchObject({ ...transfer, confirmedAt: RECORD_TIME + 2, createdAt: RECORD_TIME });
    expect(await store.find(stranger, id)).toBeUndefined();
    expect(await store.find(owner, id)).toBeUndefined();
    expect(await store.unconfirmed(allDue(transfer.chainId))).toMatchObject([{ id, blockNumber: 101 }]);
  });

  test('an unmatched transfer that moved is neither confirmed nor removed by what was known of its former block', async ({
    db,
    owner,
  }) => {
    const store = transferStore(db);
    const transfer = aTransfer();
    await store.upsert(owner, transfer, RECORD_TIME);
    const before = await store.unconfirmed(allDue(transfer.chainId));
    await store.upsert(owner, { ...transfer, blockHash: hash(101), blockNumber: 101 }, RECORD_TIME + 1);

    await store.confirm(before, RECORD_TIME + 2);
    const removed = await store.remove(before);

    expect(before).toHaveLength(1);
    expect(removed).toEqual([]);
    const left = await store.unconfirmed(allDue(transfer.chainId));
    expect(left).toMatchObject([{ blockHash: hash(101), confirmedAt: null }]);
  });

  test('an assigned transfer is neither assigned again nor removed', async ({ db, owner, session }) => {
    const [store, decisions] = [transferStore(db), transferDecisions(db)];
    const at = (now: number) => ({ actor: 'api_key:ak_1', reason: null, now }) as const;
    const [kept, dropped] = [aTransfer(), aTransfer()];
    for (const one of [kept, dropped]) await store.upsert(owner, one, RECORD_TIME);
    const both = await store.unconfirmed(allDue(kept.chainId));
    const keptId = both.find(one => one.txHash === kept.txHash)?.id ?? '';
    const to = { sessionId: session.id, transactionId: 'txn_1' };
    const early = await decisions.assign(keptId, to, at(RECORD_TIME));
    await store.confirm(both, RECORD_TIME);

    const first = await decisions.assign(keptId, to, at(RECORD_TIME + 1));
    const second = await decisions.assign(keptId, to, at(RECORD_TIME + 2));
    const openIds = (await store.openIn(kept.chainId, [kept, dropped])).map(({ txHash }) => txHash);
    const removed = await store.remove(both);

    expect([early, first, second, removed]).toMatchObject([
      false,
      true,
      false,
      [{ recipient: dropped.recipient }],
    ]);
    expect(openIds).toEqual([dropped.txHash]);
    const ofStatus = async (status: 'open' | 'assigned') =>
      (await listedTransfers(db, owner, { status }, ALL)).total;
    expect([await ofStatus('open'), await ofStatus('assigned')]).toEqual([0, 1]);
    expect((await listedTransfers(db, owner, { chainId: 1 }, ALL)).total).toBe(0);
  });

  test('a fact is recorded once, and events are listed newest first and in their order within a millisecond', async ({
    db,
    owner,
    stranger,
    session,
  }) => {
    const store = eventStore(db, SEALED);
    const data = checkoutExpiredData({ ...session, customerEmail: 'ada@example.com' });
    const told = (id: string, order: number, createdAt = RECORD_TIME) => ({
      event: { id, ...owner, type: 'checkout.expired' as const, createdAt, data },
      fact: `fact of ${id}`,
      order,
    });
    await store.insert([told('evt_b', 0), told('evt_a', 1), told('evt_c', 0, RECORD_TIME - 1)]);
    await store.insert([{ ...told('evt_d', 0), fact: 'fact of evt_a' }]);
    await store.insert([]);

    const listed = await store.list(owner, { since: RECORD_TIME - 1 }, ALL);
    const recent = await store.list(owner, { type: 'checkout.expired', since: RECORD_TIME }, ALL);

    expect(listed.data.map(({ id }) => id)).toEqual(['evt_a', 'evt_b', 'evt_c']);
    expect(listed.data[0]?.data).toEqual(data);
    expect(recent.total).toBe(2);
    expect((await store.list(owner, { type: 'payment.failed', since: 0 }, ALL)).total).toBe(0);
    expect((await store.list(stranger, { since: 0 }, ALL)).total).toBe(0);
  });

  test('the cursor of a chain is the last one set', async ({ db }) => {
    const store = cursorStore(db);
    const none = await store.find(1);
    await store.set(1, { blockNumber: 5, scannedAt: RECORD_TIME, headTime: undefined });
    const last = { blockNumber: 4, scannedAt: RECORD_TIME + 1, headTime: RECORD_TIME };
    await store.set(1, last);

    expect(none).toBeUndefined();
    expect(await store.find(1)).toEqual(last);
    expect(await store.find(2)).toBeUndefined();
  });
});
