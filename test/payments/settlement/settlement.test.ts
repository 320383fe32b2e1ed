import { beforeEach, expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { eventStore } from '#payments/events/event-store.ts';
import type { Transfer } from '#payments/model/transfer.ts';
import { seals } from '#payments/secrets/sealed.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { type Settlement, settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { aLink, allDue, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer, hash } from '../../lab/payments-sessions.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const ALL = { page: 1, limit: 100 };
const WALLET = `0x${'aa'.repeat(20)}`;
const PRICE = 2_500_000n;
const BY_AMOUNT = { matchedBy: 'amount', confirmations: 1 } as const;
const BY_MERCHANT = { actor: 'api_key:ak_1', reason: 'by mail' } as const;
const BY_HAND = { matchedBy: 'assignment', confirmations: 1 } as const;
const BY_WALLET = { matchedBy: 'wallet', confirmations: 1 } as const;

bothDatabases('the settlement', databases => {
  const given = givenDatabase(databases, { isShared: false, mode: 'test' });
  let now: number;

  beforeEach(() => {
    now = RECORD_TIME + 60_000;
  });

  const settle = <T>(work: (settle: Settlement) => Promise<T>): Promise<T> => {
    now += 1000;
    return transaction(given.db, handle => work(settlement({ handle, seals: SEALED, now })));
  };
  const opened = (changes: Partial<SessionDraft> = {}) =>
    transaction(given.db, handle => sessionStore(handle, SEALED).open(aSession(given.owner, changes)));
  const sessionOf = (id: string) => sessionStore(given.db, SEALED).findById(id);
  const told = async () =>
    (await eventStore(given.db, SEALED).list(given.owner, { since: 0 }, ALL)).data
      .map(({ type }) => type)
      .reverse();
  const paid = (
    session: { id: string },
    transfer: Transfer,
    seen: typeof BY_AMOUNT | typeof BY_WALLET | typeof BY_HAND = BY_AMOUNT,
  ) => settle(async one => one.complete((await one.recordTransfer(session, transfer, seen)).id));

  test('a confirmed transfer of the amount due completes its session, counts a use and records two events', async () => {
    const link = aLink(given.owner);
    await linkStore(given.db).insert(link);
    const session = await opened({ paymentLinkId: link.id });
    const transfer = aTransfer({ amount: session.amountDue });

    const seen = await settle(one => one.recordTransfer(session, transfer, BY_AMOUNT));
    const confirming = await sessionOf(session.id);
    await settle(one => one.progress([seen.id], 2));
    const deeper = await sessionOf(session.id);
    const done = await settle(one => one.complete(seen.id));

    expect(seen).toMatchObject({
      status: 'confirming',
      sender: WALLET,
      amount: session.amountDue,
      completedAt: null,
    });
    expect(confirming).toMatchObject({ status: 'active', paymentStatus: 'confirming', confirmations: 1 });
    expect(deeper).toMatchObject({ confirmations: 2, txHash: transfer.txHash });
    expect(done).toMatchObject({ status: 'completed', confirmations: 3, isLate: false, isPartial: false });
    expect(await sessionOf(session.id)).toMatchObject({
      status: 'completed',
      paymentStatus: 'paid',
      amountReceived: session.amountDue,
      payerAddress: WALLET,
      transactionId: seen.id,
      completedAt: now,
      endedAt: now,
    });
    expect((await linkStore(given.db).find(given.owner, link.id))?.currentUses).toBe(1);
    expect(await told()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('the event of the checkout has the totals of its session, that of the payment has not', async () => {
    const session = await opened();
    const { id } = await paid(session, aTransfer({ amount: session.amountDue }));

    const { data } = await eventStore(given.db, SEALED).list(given.owner, { since: 0 }, ALL);

    const [ofCheckout, ofPayment] = data;
    const common = { id, session_id: session.id };
    expect(ofCheckout).toMatchObject({
      type: 'checkout.completed',
      data: { ...common, subtotal: `${PRICE}`, total: `${PRICE}` },
    });
    expect(ofPayment).toMatchObject({ type: 'payment.completed', data: common });
    expect(ofPayment?.data).not.toHaveProperty('total');
  });

  test('a deeper block raises the confirmations of its confirming payments, and of no settled one', async () => {
    const [first, second, settled] = [await opened(), await opened(), await opened()];
    const place = (session: { amountDue: bigint }, logIndex: number) =>
      aTransfer({ amount: session.amountDue, logIndex });
    const waiting = await settle(one => one.recordTransfer(first, place(first, 1), BY_AMOUNT));
    const deeper = await settle(one => one.recordTransfer(second, place(second, 2), BY_AMOUNT));
    const done = await paid(settled, place(settled, 3));
    const { updatedAt } = (await sessionOf(settled.id)) ?? {};

    await settle(one => one.progress([waiting.id, deeper.id, done.id], 2));
    const raisedAt = now;
    await settle(one => one.progress([waiting.id, deeper.id], 2));
    await settle(one => one.progress([waiting.id], 4));

    const confirmations = async ({ id }: { id: string }) =>
      (await transactionStore(given.db).findById(id))?.confirmations;
    expect(await Promise.all([waiting, deeper, done].map(confirmations))).toEqual([2, 2, 3]);
    expect(await sessionOf(first.id)).toMatchObject({ confirmations: 2, updatedAt: raisedAt });
    expect(await sessionOf(second.id)).toMatchObject({ confirmations: 2, updatedAt: raisedAt });
    expect(await sessionOf(settled.id)).toMatchObject({ confirmations: 3, updatedAt });
  });

  test('a claim becomes the transfer that is seen, and a hash that is never found fails', async () => {
    const session = await opened({ signedAddress: WALLET, payerAddress: WALLET });
    const transfer = aTransfer();
    const claimed = await settle(one => one.claim(session, transfer.txHash));
    const lost = await settle(one => one.claim(session, hash(77)));

    const seen = await settle(one => one.recordTransfer(session, transfer, BY_WALLET));
    await settle(one => one.fail(lost?.id ?? '', 'not_found'));

    expect(claimed).toMatchObject({ status: 'pending', sender: null, txHash: transfer.txHash });
    expect(seen).toMatchObject({ id: claimed?.id, status: 'confirming', sender: WALLET });
    expect((await sessionOf(session.id))?.paymentStatus).toBe('confirming');
    expect(await told()).toEqual(['payment.failed']);
  });

  test('after a failure the payer may try again, even with the failed hash', async () => {
    const session = await opened({ signedAddress: WALLET, payerAddress: WALLET });
    const claimed = await settle(one => one.claim(session, hash(77)));
    await settle(one => one.fail(claimed?.id ?? '', 'not_found'));
    const failed = await sessionOf(session.id);

    const again = await settle(one => one.claim(session, hash(77)));

    expect(failed).toMatchObject({ status: 'active', paymentStatus: 'failed', failureReason: 'not_found' });
    expect(again).toMatchObject({ id: claimed?.id, status: 'pending', failureReason: null });
    expect(await sessionOf(session.id)).toMatchObject({
      paymentStatus: 'awaiting_payment',
      failureReason: null,
    });
  });

  test('a payment matched by wallet owes the price, one matched by amount the exact amount', async () => {
    const byWallet = await opened({ signedAddress: WALLET, payerAddress: WALLET });
    const byWalletToo = await opened({ signedAddress: WALLET, payerAddress: WALLET });
    const byAmount = await opened();

    const enough = await paid(byWallet, aTransfer({ amount: PRICE }), BY_WALLET);
    const asked = await paid(byWalletToo, aTransfer({ amount: byWalletToo.amountDue }), BY_WALLET);
    const tooLittle = await paid(byAmount, aTransfer({ amount: PRICE }), BY_AMOUNT);

    for (const transaction of [enough, asked]) {
      expect(transaction).toMatchObject({ isPartial: false, overpaidAmount: null });
      expect((await sessionOf(transaction.sessionId))?.status).toBe('completed');
    }
    expect(tooLittle.isPartial).toBe(true);
    expect((await sessionOf(byAmount.id))?.status).toBe('active');
  });

  test('transfers of a session add up, also one of another sender that the merchant assigned', async () => {
    const session = await opened({ signedAddress: WALLET, payerAddress: WALLET });
    const other = `0x${'bb'.repeat(20)}`;

    const first = await paid(session, aTransfer({ amount: 1_000_000n }), BY_WALLET);
    await paid(session, aTransfer({ amount: 1_000_000n, sender: other }), BY_HAND);
    const between = await sessionOf(session.id);
    const last = await paid(session, aTransfer({ amount: session.amountDue - 1_500_000n }), BY_WALLET);

    expect(first).toMatchObject({ isPartial: true, overpaidAmount: null });
    expect(between).toMatchObject({
      status: 'active',
      paymentStatus: 'underpaid',
      amountReceived: 2_000_000n,
    });
    expect(last).toMatchObject({ overpaidAmount: 500_000n });
    expect(await sessionOf(session.id)).toMatchObject({
      status: 'completed',
      amountReceived: session.amountDue + 500_000n,
      transactionId: last.id,
    });
  });

  test('a second payment of a completed session is a duplicate', async () => {
    const session = await opened();
    await paid(session, aTransfer({ amount: session.amountDue }));

    const second = await paid(session, aTransfer({ amount: session.amountDue }));

    expect(second).toMatchObject({
      status: 'completed',
      isDuplicate: true,
      isPartial: false,
      overpaidAmount: null,
    });
    expect(await told()).toEqual([
      'payment.completed',
      'checkout.completed',
      'payment.completed',
      'checkout.overpaid',
    ]);
  });

  test('a payment after the end, by clock or by block time, is late and completes nothing', async () => {
    const ended = await opened();
    await settle(one => one.expire(ended.id));
    const open = await opened({ expiresAt: RECORD_TIME + 30_000 });

    const afterEnd = await paid(ended, aTransfer());
    const afterTime = await paid(open, aTransfer());

    expect(afterEnd).toMatchObject({ status: 'completed', isLate: true });
    expect(await sessionOf(ended.id)).toMatchObject({
      status: 'expired',
      isLate: true,
      amountReceived: PRICE,
    });
    expect(afterTime).toMatchObject({ status: 'completed', isLate: true });
    expect((await sessionOf(open.id))?.status).toBe('active');
    expect(await told()).toEqual([
      'checkout.expired',
      'payment.completed',
      'checkout.paid_late',
      'payment.completed',
      'checkout.paid_late',
    ]);
  });

  test('a payment that was seen before the last use of its link was taken is late, and its session is sold out', async () => {
    const link = aLink(given.owner, { maxUses: 1 });
    await linkStore(given.db).insert(link);
    const [first, second] = [
      await opened({ paymentLinkId: link.id }),
      await opened({ paymentLinkId: link.id }),
    ];
    const seen = await settle(one =>
      one.recordTransfer(second, aTransfer({ amount: second.amountDue }), BY_AMOUNT),
    );
    await paid(first, aTransfer({ amount: first.amountDue, logIndex: 9 }));
    const open = await sessionOf(second.id);

    const unlucky = await settle(one => one.complete(seen.id));

    expect(unlucky).toMatchObject({ status: 'completed', isLate: true, isPartial: false });
    expect(open?.status).toBe('active');
    expect(await sessionOf(second.id)).toMatchObject({
      status: 'expired',
      endedReason: 'sold_out',
      paymentStatus: 'paid',
      isLate: true,
      transactionId: null,
    });
    expect((await told()).slice(2)).toEqual(['payment.completed', 'checkout.expired', 'checkout.paid_late']);
    expect((await linkStore(given.db).find(given.owner, link.id))?.currentUses).toBe(1);
  });

  test('an orphaned payment is recognized in another block and at another log index', async () => {
    const session = await opened();
    const transfer = aTransfer();
    const seen = await settle(one => one.recordTransfer(session, transfer, BY_AMOUNT));
    const orphan = await settle(one => one.orphan(seen.id));
    const waiting = await sessionOf(session.id);

    const again = await settle(one =>
      one.updateTransfer({ ...transfer, logIndex: 9, blockNumber: 101, blockHash: hash(101) }, 1),
    );

    expect(orphan).toMatchObject({ status: 'pending', blockHash: null, logIndex: null });
    expect(waiting).toMatchObject({ paymentStatus: 'awaiting_payment', confirmations: 0 });
    expect(again).toMatchObject({ id: seen.id, status: 'confirming', logIndex: 9, blockHash: hash(101) });
    expect(await told()).toEqual([]);
  });

  test('a payment dropped after completion fails; when it returns, only payment.completed is recorded again', async () => {
    const session = await opened();
    const transfer = aTransfer({ amount: session.amountDue });
    const done = await paid(session, transfer);
    const dropped = await settle(one => one.reorg(done.id));
    const flagged = await sessionOf(session.id);

    await paid(session, { ...transfer, blockNumber: 105, blockHash: hash(105) });

    expect(dropped).toMatchObject({ status: 'failed', failureReason: 'reorged', blockHash: null });
    expect(flagged).toMatchObject({ status: 'completed', isReorged: true, amountReceived: 0n });
    expect(await sessionOf(session.id)).toMatchObject({
      isReorged: false,
      amountReceived: session.amountDue,
      transactionId: done.id,
    });
    expect(await told()).toEqual([
      'payment.completed',
      'checkout.completed',
      'payment.failed',
      'payment.completed',
    ]);
  });

  test('an outcome that was judged in another block changes nothing', async () => {
    const session = await opened();
    const transfer = aTransfer({ amount: session.amountDue });
    const elsewhere = hash(99);
    const seen = await settle(one => one.recordTransfer(session, transfer, BY_AMOUNT));

    const unmoved = [
      await settle(one => one.complete(seen.id, elsewhere)),
      await settle(one => one.orphan(seen.id, elsewhere)),
      await settle(one => one.fail(seen.id, 'not_found', null)),
    ];
    const done = await settle(one => one.complete(seen.id, transfer.blockHash));
    const kept = await settle(one => one.reorg(seen.id, elsewhere));
    const dropped = await settle(one => one.reorg(seen.id, transfer.blockHash));

    expect(unmoved).toEqual([seen, seen, seen]);
    expect(kept).toEqual(done);
    expect([done.status, dropped.status]).toEqual(['completed', 'failed']);
    expect(await told()).toEqual(['payment.completed', 'checkout.completed', 'payment.failed']);
  });

  test('a payment that replaces a dropped one is no duplicate', async () => {
    const session = await opened();
    const first = await paid(session, aTransfer({ amount: session.amountDue }));
    await settle(one => one.reorg(first.id));

    const second = await paid(session, aTransfer({ amount: session.amountDue }));

    expect(second).toMatchObject({ isDuplicate: false, isLate: false });
    expect(await sessionOf(session.id)).toMatchObject({ isReorged: false, transactionId: second.id });
  });

  test('a session without a payment that is past its end expires', async () => {
    const forgotten = await opened({ expiresAt: RECORD_TIME + 70_000 });
    const paying = await opened({ expiresAt: RECORD_TIME + 70_000 });
    await opened({ expiresAt: RECORD_TIME + 900_000 });
    await settle(one => one.recordTransfer(paying, aTransfer({ amount: paying.amountDue }), BY_AMOUNT));
    const { chainId } = forgotten;
    now = RECORD_TIME + 80_000;

    const early = await settle(one => one.expireDue({ chainId, until: RECORD_TIME + 60_000, limit: 10 }));
    const other = await settle(one => one.expireDue({ chainId: 1, until: now, limit: 10 }));
    const ended = await settle(one => one.expireDue({ chainId, until: now + 900_000, limit: 10 }));
    const again = await settle(one => one.expireDue({ chainId, until: now, limit: 10 }));

    expect([early, other, ended, again]).toEqual([0, 0, 1, 0]);
    expect((await sessionOf(forgotten.id))?.status).toBe('expired');
    expect((await sessionOf(paying.id))?.status).toBe('active');
    expect(await told()).toEqual(['checkout.expired']);
  });

  test('sessions expire in batches, the oldest deadline first', async () => {
    const sessions = [await opened({ expiresAt: RECORD_TIME + 1 }), await opened({ expiresAt: RECORD_TIME })];
    now = RECORD_TIME + 2;
    const due = { chainId: aSession(given.owner).chainId, until: now, limit: 1 };

    const first = await settle(one => one.expireDue(due));
    const [later] = await Promise.all(sessions.map(({ id }) => sessionOf(id)));
    const second = await settle(one => one.expireDue(due));

    expect([first, second]).toEqual([1, 1]);
    expect(later?.status).toBe('active');
  });

  test('the sessions of a deleted link end, except those with a payment, which can still complete', async () => {
    const link = aLink(given.owner);
    await linkStore(given.db).insert(link);
    const idle = await opened({ paymentLinkId: link.id });
    const paying = await opened({ paymentLinkId: link.id });
    const transfer = aTransfer({ amount: paying.amountDue });
    const seen = await settle(one => one.recordTransfer(paying, transfer, BY_AMOUNT));

    const ended = await settle(one => one.endSessionsOf(link.id));
    await linkStore(given.db).remove(given.owner, link.id);
    await settle(one => one.complete(seen.id));

    expect(ended).toBe(1);
    expect(await sessionOf(idle.id)).toMatchObject({ status: 'expired', paymentLinkId: null });
    expect(await sessionOf(paying.id)).toMatchObject({ status: 'completed', paymentLinkId: null });
  });

  test('the sessions of a link that is being deleted are detached in parts, and the open ones end', async () => {
    const link = aLink(given.owner);
    await linkStore(given.db).insert(link);
    const sessions = [];
    for (let count = 0; count < 3; count += 1) sessions.push(await opened({ paymentLinkId: link.id }));
    const detached = () => settle(one => one.detachSessionsOf(link.id, 2));

    const numbers = [await detached(), await detached(), await detached()];

    expect(numbers).toEqual([2, 1, 0]);
    for (const { id } of sessions)
      expect(await sessionOf(id)).toMatchObject({ status: 'expired', paymentLinkId: null });
  });

  test('a transfer that was listed as unmatched is listed no more once it pays a session', async () => {
    const session = await opened();
    const transfers = transferStore(given.db);
    const [paying, other] = [aTransfer(), aTransfer()];
    for (const one of [paying, other]) await transfers.upsert(given.owner, one, now);

    await settle(one => one.recordTransfer(session, paying, BY_WALLET));

    expect(await transfers.unconfirmed(allDue(paying.chainId))).toMatchObject([{ txHash: other.txHash }]);
  });

  test('a new hash is followed for a pending payment only, and its own hash changes nothing', async () => {
    const session = await opened();
    const claimed = await settle(one => one.claim(session, hash(1)));
    const before = await sessionOf(session.id);
    await settle(one => one.follow(claimed?.id ?? '', hash(1)));
    const unchanged = await sessionOf(session.id);
    await settle(one => one.follow(claimed?.id ?? '', hash(2)));
    const seen = await settle(one => one.recordTransfer(session, aTransfer({ txHash: hash(2) }), BY_WALLET));
    await settle(one => one.follow(seen.id, hash(3)));

    expect(unchanged).toEqual(before);
    expect(seen.id).toBe(claimed?.id);
    expect(await transactionStore(given.db).ofSession(session.id)).toEqual([seen]);
  });

  test('an assigned transfer counts as one payment', async () => {
    const session = await opened();
    const transfer = aTransfer({ amount: session.amountDue + 5n });
    const transfers = transferStore(given.db);
    await transfers.upsert(given.owner, transfer, now);
    const listed = await transfers.unconfirmed(allDue(transfer.chainId));
    await transfers.confirm(listed, now);
    const id = listed.find(one => one.organizationId === given.owner.organizationId)?.id ?? '';
    const elsewhere = await opened({ recipientAddress: `0x${'12'.repeat(20)}` });

    const refused = await settle(one => one.assign(given.owner, id, elsewhere, BY_MERCHANT));
    const assigned = await settle(one => one.assign(given.owner, id, session, BY_MERCHANT));
    const repeated = await settle(one => one.assign(given.owner, id, session, BY_MERCHANT));

    expect(refused).toBeUndefined();
    expect(assigned).toMatchObject({ status: 'completed', matchedBy: 'assignment', overpaidAmount: 5n });
    expect(repeated).toBeUndefined();
    expect((await sessionOf(session.id))?.status).toBe('completed');
    expect(await transfers.find(given.owner, id)).toMatchObject({
      transactionId: assigned?.id,
      assignedAt: now - 1000,
      assignedBy: 'api_key:ak_1',
      assignedReason: 'by mail',
    });
  });

  test.each([
    ['completed', ['payment.completed', 'checkout.completed'], 'paid'],
    ['failed', ['payment.failed'], 'failed'],
    ['underpaid', ['payment.completed'], 'underpaid'],
    ['reorg', ['payment.completed', 'checkout.completed', 'payment.failed'], 'paid'],
  ] as const)('a simulated payment can be %s', async (outcome, events, paymentStatus) => {
    const session = await opened();

    const simulated = await settle(one => one.simulate(session, outcome));

    expect(simulated?.matchedBy).toBe('simulation');
    expect(simulated?.txHash === null).toBe(outcome === 'failed');
    expect(await sessionOf(session.id)).toMatchObject({ paymentStatus, isReorged: outcome === 'reorg' });
    expect(await told()).toEqual(events);
    expect(await transactionStore(given.db).open(session.chainId)).toEqual([]);
  });

  test('no payment is simulated in live mode or for an ended session', async () => {
    const live = await transaction(given.db, handle =>
      sessionStore(handle, SEALED).open(aSession({ ...given.owner, mode: 'live' })),
    );
    const over = await opened();
    await settle(one => one.expire(over.id));

    expect(await settle(one => one.simulate(live, 'completed'))).toBeUndefined();
    expect(await settle(one => one.simulate(over, 'completed'))).toBeUndefined();
  });

  test('of two concurrent payments for the last use of a link only one completes its session', async () => {
    const link = aLink(given.owner, { maxUses: 1 });
    await linkStore(given.db).insert(link);
    const sessions = [await opened({ paymentLinkId: link.id }), await opened({ paymentLinkId: link.id })];
    const seen = await Promise.all(
      sessions.map(session =>
        settle(one => one.recordTransfer(session, aTransfer({ amount: session.amountDue }), BY_AMOUNT)),
      ),
    );

    await Promise.all([...seen, ...seen].map(({ id }) => settle(one => one.complete(id))));

    const ended = await Promise.all(sessions.map(({ id }) => sessionOf(id)));
    expect(ended.map(one => one?.status).sort()).toEqual(['completed', 'expired']);
    expect((await linkStore(given.db).find(given.owner, link.id))?.currentUses).toBe(1);
    expect((await told()).sort()).toEqual([
      'checkout.completed',
      'checkout.expired',
      'checkout.paid_late',
      'payment.completed',
      'payment.completed',
    ]);
  });
});
