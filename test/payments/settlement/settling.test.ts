import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outcomeOf } from '#payments/model/outcome.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { expiredWhileConfirming } from '#payments/settlement/endings.ts';
import type { PaymentCase } from '#payments/settlement/session-totals.ts';
import {
  awaited,
  completed,
  failed,
  needsUse,
  orphaned,
  reorged,
  seenInBlock,
  unseen,
} from '#payments/settlement/settling.ts';
import { aSession, aTransfer, hash } from '../../lab/payments-sessions.ts';

const PRICE = 2_500_000n;
const NOW = aSession({ organizationId: '', mode: 'test' }).createdAt + 120_000;

test('only a payment that completes an active session of a link needs a use of it', () => {
  const ofLink = session({ paymentLinkId: 'pl_1' });

  expect(needsUse(paying(ofLink, PRICE))).toBe(true);
  expect(needsUse(paying(ofLink, PRICE - 1n))).toBe(false);
  expect(needsUse(paying(session(), PRICE))).toBe(false);
  expect(needsUse(paying({ ...ofLink, status: 'expired' }, PRICE))).toBe(false);
});

test('a payment matched by amount owes the exact amount, any other the price', () => {
  const asked = session({ amountDue: PRICE + 7n });
  const isPartial = (matchedBy: 'wallet' | 'amount' | 'assignment' | 'simulation') =>
    completed(paying(asked, PRICE, { matchedBy }), undefined, NOW).transaction.isPartial;

  expect(isPartial('wallet')).toBe(false);
  expect(isPartial('assignment')).toBe(false);
  expect(isPartial('amount')).toBe(true);
  expect(isPartial('simulation')).toBe(false);
});

test('more than the price, up to the exact amount, is no overpayment', () => {
  const asked = session({ amountDue: PRICE + 7n });
  const overpaid = (amount: bigint) =>
    completed(paying(asked, amount), undefined, NOW).transaction.overpaidAmount;

  expect(overpaid(PRICE + 7n)).toBeNull();
  expect(overpaid(PRICE + 9n)).toBe(2n);
});

test('a late payment of a price that is already overpaid is overpaid as a whole, and by no more', () => {
  const ended: CheckoutSession = { ...session(), status: 'expired' };
  const first = completed(paying(ended, PRICE + 5n), undefined, NOW);

  const second = completed({ ...paying(first.session, 3n), others: [first.transaction] }, undefined, NOW);

  expect(first.transaction.overpaidAmount).toBe(5n);
  expect(second.transaction).toMatchObject({ isDuplicate: false, overpaidAmount: 3n });
});

test('a transfer in a block up to 15 seconds after the end is in time, one a millisecond later is late', () => {
  const limited = session({ expiresAt: NOW });
  const lateAt = (blockTime: number) =>
    completed(paying(limited, PRICE, { blockTime }), undefined, NOW).transaction.isLate;

  expect(lateAt(NOW + 15_000)).toBe(false);
  expect(lateAt(NOW + 15_001)).toBe(true);
});

test('late money counts as received but never completes a session', () => {
  const limited = session({ expiresAt: NOW, payerAddress: aTransfer().sender });
  const late = completed(paying(limited, PRICE - 1n, { blockTime: NOW + 15_001 }), undefined, NOW);

  const inTime = completed({ ...paying(late.session, 1n), others: [late.transaction] }, undefined, NOW);

  expect(late.session).toMatchObject({ paymentStatus: 'underpaid', amountReceived: PRICE - 1n });
  expect(inTime.transaction.isLate).toBe(false);
  expect(inTime.session).toMatchObject({
    status: 'active',
    paymentStatus: 'paid',
    amountReceived: PRICE,
    isLate: true,
  });
});

test('a failure is shown only while no other payment is pending', () => {
  const first = awaited(account(session(), unseenOf(session(), 'txn_1')), NOW);
  const second = unseenOf(session(), 'txn_2');

  const alone = failed({ ...account(first.session, first.transaction) }, 'reverted', NOW);
  const beside = failed({ ...account(first.session, first.transaction), others: [second] }, 'reverted', NOW);

  expect(alone.session).toMatchObject({ paymentStatus: 'failed', failureReason: 'reverted' });
  expect(beside.session).toMatchObject({ paymentStatus: 'awaiting_payment', failureReason: null });
});

test('payments of one wallet lead to the same state in any order', () => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: PRICE }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(amounts, fc.constantFrom(0, 1_000), (list, toleranceBps) => {
      const forwards = settled(list, toleranceBps);
      const backwards = settled(list.toReversed(), toleranceBps);
      const sum = list.reduce((total, amount) => total + amount, 0n);
      const isPaid = sum >= (toleranceBps === 0 ? PRICE : (PRICE * 9n) / 10n);

      for (const { session: end, checkouts } of [forwards, backwards]) {
        expect(end.amountReceived).toBe(sum);
        expect(end.status).toBe(isPaid ? 'completed' : 'active');
        expect(end.paymentStatus).toBe(isPaid ? 'paid' : 'underpaid');
        expect(checkouts).toBe(isPaid ? 1 : 0);
        expect(end.amountOverpaid).toBeLessThanOrEqual(sum > PRICE ? sum - PRICE : 0n);
      }
    }),
  );
});

test('a payment undone before its confirmation leaves the session unchanged except for its hash', () => {
  const before = session({ payerAddress: aTransfer().sender });
  const transfer = aTransfer();
  const seen = seenInBlock(
    account(before, unseenOf(before, 'txn_1')),
    transfer,
    { matchedBy: 'wallet', confirmations: 2 },
    NOW,
  );

  const gone = orphaned(account(seen.session, seen.transaction), NOW);

  expect(gone.events).toEqual([]);
  expect(gone.session).toEqual({ ...before, txHash: transfer.txHash, updatedAt: NOW });
  expect(seen.session).toMatchObject({ paymentStatus: 'confirming', confirmations: 2 });
});

test('a dropped duplicate does not affect the session that another payment completed', () => {
  const first = completed(paying(session(), PRICE), undefined, NOW);
  const second = completed(
    { ...paying(first.session, PRICE, { id: 'txn_2' }), others: [first.transaction] },
    undefined,
    NOW,
  );

  const dropped = reorged(
    { ...account(second.session, second.transaction), others: [first.transaction] },
    NOW,
  );

  expect(second.transaction.isDuplicate).toBe(true);
  expect(dropped.session).toMatchObject({ isReorged: false, amountReceived: PRICE, transactionId: 'txn_1' });
});

test('a second payment becomes that of its session when the chain drops the first one', () => {
  const ofLink = session({ paymentLinkId: 'pl_1' });
  const first = completed(paying(ofLink, PRICE), undefined, NOW);
  const other = { id: 'txn_2', txHash: hash(2), sender: `0x${'0d'.repeat(20)}` };
  const second = completed(
    { ...paying(first.session, PRICE + 3n, other), others: [first.transaction] },
    undefined,
    NOW,
  );

  const dropped = reorged(
    { ...account(second.session, first.transaction), others: [second.transaction] },
    NOW,
  );
  const returned = completed(
    { ...paying(dropped.session, PRICE), others: [...(dropped.counted ?? [])] },
    undefined,
    NOW,
  );

  expect(dropped.session).toMatchObject({
    status: 'completed',
    isReorged: false,
    transactionId: 'txn_2',
    payerAddress: other.sender,
    txHash: other.txHash,
    amountReceived: PRICE + 3n,
    amountOverpaid: 3n,
  });
  expect(dropped.counted).toMatchObject([{ id: 'txn_2', isDuplicate: false, overpaidAmount: 3n }]);
  expect(dropped.use).toBeUndefined();
  expect(returned.transaction.isDuplicate).toBe(true);
  expect(returned.session).toMatchObject({ transactionId: 'txn_2', amountOverpaid: PRICE + 3n });
});

test('a second payment that is too little, late or not proven leaves its session without payment', () => {
  const first = completed(paying(session({ paymentLinkId: 'pl_1' }), PRICE), undefined, NOW);
  const dropped = (amount: bigint, changes: Partial<PaymentCase['transaction']> = {}) => {
    const second = paying(first.session, amount, { id: 'txn_2' });
    const duplicate = completed({ ...second, others: [first.transaction] }, undefined, NOW);
    const others = [{ ...duplicate.transaction, ...changes }];
    return reorged({ ...account(duplicate.session, first.transaction), others }, NOW);
  };

  const all = [dropped(PRICE - 1n), dropped(PRICE, { isLate: true }), dropped(PRICE, { proven: false })];

  expect(all.map(({ use }) => use)).toEqual(['returned', 'returned', 'returned']);
  expect(all.map(({ session: { isReorged } }) => isReorged)).toEqual([true, true, true]);
});

test.each([
  ['a needed part of its payer in time', PRICE - 1n, {}, true],
  ['a part of its payer beyond the price', PRICE, {}, false],
  ['a late part of its payer', PRICE, { isLate: true }, false],
  ['a needed part of another wallet', PRICE - 1n, { sender: `0x${'0d'.repeat(20)}` }, true],
] as const)('a completed session from which %s is dropped', (_, rest, changes, isReorged) => {
  const part = completed(paying(session(), 1n), undefined, NOW).transaction;
  const other = { ...part, ...changes };
  const last = completed({ ...paying(session(), rest, { id: 'txn_2' }), others: [other] }, undefined, NOW);

  const dropped = reorged({ ...account(last.session, other), others: [last.transaction] }, NOW);

  expect(last.session).toMatchObject({ status: 'completed', transactionId: 'txn_2' });
  expect(dropped.session).toMatchObject({ status: 'completed', isReorged });
});

test('a dropped part that returns leaves its session completed by the last one', () => {
  const part = completed(paying(session(), 1n), undefined, NOW).transaction;
  const last = completed({ ...paying(session(), PRICE, { id: 'txn_2' }), others: [part] }, undefined, NOW);
  const others = [last.transaction];
  const dropped = reorged({ ...account(last.session, part), others }, NOW);

  const returned = completed({ ...paying(dropped.session, 1n), others }, undefined, NOW);

  expect(returned.session).toMatchObject({ isReorged: false, transactionId: 'txn_2' });
  expect(returned.events.map(({ type }) => type)).toEqual(['payment.completed', 'checkout.overpaid']);
});

test('a payment that confirms while its session expires is late from then on', () => {
  const confirming = paying(session(), PRICE);

  const late = expiredWhileConfirming(confirming, NOW);

  expect(late.session).toMatchObject({ status: 'expired', endedAt: NOW, isLate: true });
  expect(completed(account(late.session, late.transaction), undefined, NOW)).toMatchObject({
    transaction: { isLate: true },
    session: { status: 'expired' },
  });
});

test('a second payment is too much as a whole, until the chain drops it', () => {
  const first = completed(paying(session(), PRICE + 2n), undefined, NOW);
  const other = { id: 'txn_2', sender: `0x${'0d'.repeat(20)}` };
  const second = completed(
    { ...paying(first.session, PRICE, other), others: [first.transaction] },
    undefined,
    NOW,
  );

  const dropped = reorged(
    { ...account(second.session, second.transaction), others: [first.transaction] },
    NOW,
  );

  expect(first.session.amountOverpaid).toBe(2n);
  expect(second.session).toMatchObject({ amountReceived: PRICE + PRICE + 2n, amountOverpaid: PRICE + 2n });
  expect(outcomeOf(second.session)).toBe('overpaid');
  expect(dropped.session.amountOverpaid).toBe(2n);
});

test('a part that the merchant assigned and the rest from the wallet that signed complete a session', () => {
  const signed = session({ signedAddress: aTransfer().sender, payerAddress: aTransfer().sender });
  const fromExchange = { sender: `0x${'0d'.repeat(20)}`, matchedBy: 'assignment' } as const;

  const part = completed(paying(signed, PRICE - 1n, fromExchange), undefined, NOW);
  const rest = completed(
    { ...paying(part.session, 1n, { id: 'txn_2' }), others: [part.transaction] },
    undefined,
    NOW,
  );

  expect(part.session).toMatchObject({ paymentStatus: 'underpaid', amountReceived: PRICE - 1n });
  expect(rest.session).toMatchObject({ status: 'completed', amountReceived: PRICE, amountOverpaid: 0n });
});

test.each([
  ['all its parts are of certain payers', 'assignment', 'completed'],
  ['a part of it was simulated', 'simulation', 'active'],
] as const)('a sum within the tolerance, of which %s, leaves its session %s', (_, matchedBy, status) => {
  const tolerant = session({ toleranceBps: 100 });
  const part = completed(paying(tolerant, PRICE / 2n, { matchedBy }), undefined, NOW);

  const rest = { ...paying(part.session, PRICE / 2n - 1n, { id: 'txn_2' }), others: [part.transaction] };

  expect(completed(rest, undefined, NOW).session.status).toBe(status);
});

test('a dropped part leaves less than the tolerance allows, and its session is paid again with its return', () => {
  const tolerant = session({ toleranceBps: 100, paymentLinkId: 'pl_1' });
  const part = completed(paying(tolerant, PRICE / 2n), undefined, NOW);
  const rest = paying(part.session, PRICE / 2n - 1n, { id: 'txn_2' });
  const paid = completed({ ...rest, others: [part.transaction] }, undefined, NOW);
  const others = [paid.transaction];

  const dropped = reorged({ ...account(paid.session, part.transaction), others }, NOW);
  const returned = completed({ ...paying(dropped.session, PRICE / 2n), others }, undefined, NOW);

  expect([paid, dropped, returned].map(move => outcomeOf(move.session))).toEqual(['paid', 'dropped', 'paid']);
  expect([paid.use, dropped.use, returned.use]).toEqual(['counted', 'returned', 'taken']);
});

test('a late exact amount from another address than the wallet that signed is paid late', () => {
  const ended = session({ status: 'expired', signedAddress: '0xa', payerAddress: '0xa' });

  const late = completed(paying(ended, PRICE, { matchedBy: 'amount' }), undefined, NOW);
  const dropped = reorged(account(late.session, late.transaction), NOW);

  expect(late.session).toMatchObject({ payerAddress: aTransfer().sender, amountReceived: PRICE });
  expect(outcomeOf(late.session)).toBe('paid_late');
  expect(dropped.session).toMatchObject({ payerAddress: '0xa', amountReceived: 0n });
  expect(outcomeOf(dropped.session)).toBe('dropped');
});

function session(changes: Partial<CheckoutSession> = {}): CheckoutSession {
  return {
    ...aSession({ organizationId: 'org_1', mode: 'test' }),
    amountDue: PRICE,
    isWalletOnly: false,
    depositAddress: null,
    ...changes,
  };
}

function account(ofSession: CheckoutSession, transaction: PaymentCase['transaction']): PaymentCase {
  return { session: ofSession, transaction, others: [] };
}

function unseenOf(ofSession: CheckoutSession, id: string) {
  return unseen(ofSession, { id, txHash: hash(1), matchedBy: 'wallet' }, NOW);
}

/** A confirming payment by wallet, the first of its session. */
function paying(
  ofSession: CheckoutSession,
  amount: bigint,
  changes: Partial<PaymentCase['transaction']> = {},
): PaymentCase {
  const transfer = aTransfer({ amount });
  const first = account(ofSession, unseenOf(ofSession, 'txn_1'));
  const { transaction } = seenInBlock(first, transfer, { matchedBy: 'wallet', confirmations: 1 }, NOW);
  return account(ofSession, { ...transaction, ...changes });
}

/** The session after payments of these amounts by one wallet, and its number of completions. */
function settled(amounts: readonly bigint[], toleranceBps: number) {
  let current = session({ payerAddress: aTransfer().sender, toleranceBps });
  let checkouts = 0;
  const others: PaymentCase['transaction'][] = [];
  for (const [index, amount] of amounts.entries()) {
    const move = completed({ ...paying(current, amount, { id: `txn_${index}` }), others }, undefined, NOW);
    current = move.session;
    checkouts += move.events.filter(({ type }) => type === 'checkout.completed').length;
    others.push(move.transaction);
  }
  return { session: current, checkouts };
}
