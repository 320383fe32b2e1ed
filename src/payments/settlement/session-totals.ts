import type { EventType } from '../model/event.ts';
import type { MatchedBy, PaymentTransaction } from '../model/payment-transaction.ts';
import {
  type CheckoutSession,
  type FailureReason,
  holdsUse,
  LIFE_ALLOWANCE,
  leastSum,
} from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';

/** A transaction, its session, and the session's other transactions, oldest first. */
export interface PaymentCase {
  readonly session: CheckoutSession;
  readonly transaction: PaymentTransaction;
  readonly others: readonly PaymentTransaction[];
}

/** Money in a block. Coins that a balance showed have no transaction. */
export type SeenMoney = Pick<Transfer, 'amount' | 'recipient' | 'blockNumber' | 'blockHash' | 'blockTime'> &
  Pick<PaymentTransaction, 'sender' | 'txHash' | 'logIndex'>;

/** Evidence of a transfer: its kind of match, and the confirmations of its block. */
export interface TransferEvidence {
  readonly matchedBy: MatchedBy;
  readonly confirmations: number;
}

/** An event of a state change. Events with the same `fact` are recorded once. */
export interface EventAnnouncement {
  readonly type: Exclude<EventType, `refund.${string}` | 'sweep.completed'>;
  readonly fact: string;
}

/** Both records after a state change, and its events in order. */
export interface Move {
  readonly session: CheckoutSession;
  readonly transaction: PaymentTransaction;
  readonly events: readonly EventAnnouncement[];
  /** Other payments of the session, which count in place of the transaction from now on. */
  readonly counted?: readonly PaymentTransaction[];
  /**
   * The use of the session's link: counted before its completion, returned with the payment that completed it, or taken
   * with that payment's return or with an acceptance, also beyond `max_uses`. Absent when it stays as it is.
   */
  readonly use?: 'counted' | 'returned' | 'taken' | undefined;
}

/** The session with totals and status derived from all its transactions; `transaction` is the one that changed. */
export function withTotals({ session, transaction, others }: PaymentCase, now: number): CheckoutSession {
  const all = [...others, transaction];
  const shown = { ...followed(session, transaction), payerAddress: payerOf(session, all) };
  const failure = transaction.status === 'failed' ? transaction.failureReason : lastFailure(others);
  return { ...derived(session, all, { failure, now }), ...shown };
}

/** The session after a payment was moved to another one. It was not completed by it. */
export function withoutPayment({ session, others }: PaymentCase, now: number): CheckoutSession {
  const last = others.findLast(one => one.txHash !== null && one.status !== 'failed');
  const shown = {
    txHash: last?.txHash ?? null,
    confirmations: last?.confirmations ?? 0,
    payerAddress: payerOf({ ...session, payerAddress: null }, others),
  };
  const left = derived(session, others, { failure: lastFailure(others), now });
  return session.transactionId === null ? { ...left, ...shown } : left;
}

/** The session with the totals and the status of its transactions. */
function derived(
  session: CheckoutSession,
  all: readonly PaymentTransaction[],
  { failure, now }: { readonly failure: FailureReason | null; readonly now: number },
): CheckoutSession {
  const completed = all.filter(({ status }) => status === 'completed');
  const amountReceived = completed.reduce((sum, { amount }) => sum + amount, 0n);
  const standing = { ...session, amountReceived };
  const paymentStatus = paymentStatusOf(standing, all);
  return {
    ...standing,
    paymentStatus,
    useReservedUntil: reservedUntil(session, { paymentStatus, now }),
    amountOverpaid: overpaidIn(standing, completed),
    failureReason: paymentStatus === 'failed' ? failure : null,
    isLate: session.status !== 'completed' && all.some(hasComeLate),
    updatedAt: now,
  };
}

/** The present payer while his payments stand; else the first whose payment stands; else the wallet that signed. */
function payerOf(
  { payerAddress, signedAddress }: CheckoutSession,
  all: readonly PaymentTransaction[],
): string | null {
  const senders = all.filter(isSeen).flatMap(({ sender }) => sender ?? []);
  const [first] = senders;
  if (first === undefined) return signedAddress ?? payerAddress;
  return payerAddress !== null && senders.includes(payerAddress) ? payerAddress : first;
}

/** A payment that is seen after the reservation of a use has ended does not bring it back. */
function reservedUntil(
  session: CheckoutSession,
  { paymentStatus, now }: Pick<CheckoutSession, 'paymentStatus'> & { readonly now: number },
): number | null {
  if (session.status !== 'active') return null;
  return paymentStatus === 'confirming' && !holdsUse(session, now) ? null : session.useReservedUntil;
}

/** Money beyond the price, without the tail of an exact amount, or beyond what was accepted instead of the price. */
function overpaidIn(
  { amount, amountReceived, acceptedAmount }: CheckoutSession,
  completed: readonly PaymentTransaction[],
): bigint {
  const price = acceptedAmount ?? amount;
  const beyond = amountReceived > price ? amountReceived - price : 0n;
  if (acceptedAmount !== null) return beyond;
  const excess = completed.reduce(
    (sum, one) => sum + (one.isDuplicate ? one.amount : (one.overpaidAmount ?? 0n)),
    0n,
  );
  // After a payment within the tolerance, the next one may fill up the price.
  return excess < beyond ? excess : beyond;
}

/** Matches by which the payer is certain. */
const CERTAIN: readonly PaymentTransaction['matchedBy'][] = ['wallet', 'deposit_address', 'assignment'];

/** Sum that payments have to reach: the price, less the tolerance if all their payers are certain (Decision 348). */
function neededSum(session: CheckoutSession, payments: readonly PaymentTransaction[]): bigint {
  return payments.every(({ matchedBy }) => CERTAIN.includes(matchedBy)) ? leastSum(session) : session.amount;
}

/** Money of an open session that its refunds need. It does not count towards the price (Decision 368). */
function reservedIn({ status, amountReserved }: CheckoutSession): bigint {
  return status === 'active' ? amountReserved : 0n;
}

function isSeen({ status }: PaymentTransaction): boolean {
  return status === 'confirming' || status === 'completed';
}

function paymentStatusOf(
  session: CheckoutSession,
  all: readonly PaymentTransaction[],
): CheckoutSession['paymentStatus'] {
  const { status, amountReceived } = session;
  const has = (wanted: PaymentTransaction['status']) => all.some(one => one.status === wanted);
  if (status === 'completed') return 'paid';
  if (has('confirming')) return 'confirming';
  // Enough arrived, but late.
  const completed = all.filter(one => one.status === 'completed');
  if (amountReceived - reservedIn(session) >= neededSum(session, completed)) return 'paid';
  if (amountReceived > 0n) return 'underpaid';
  return has('failed') && !has('pending') ? 'failed' : 'awaiting_payment';
}

/** Hash and confirmations that the payer sees: of the latest transaction, or of the one that completed the session. */
function followed(session: CheckoutSession, transaction: PaymentTransaction) {
  const { txHash, confirmations } = transaction;
  const isFollowed = session.transactionId === null || session.transactionId === transaction.id;
  if (!isFollowed) return {};
  if (txHash === null) return transaction.balanceBlock === null ? {} : { confirmations };
  if (transaction.status === 'failed' && session.txHash !== txHash) return {};
  return { txHash, confirmations };
}

function lastFailure(all: readonly PaymentTransaction[]): FailureReason | null {
  return all.findLast(one => one.status === 'failed')?.failureReason ?? null;
}

function hasComeLate(transaction: PaymentTransaction): boolean {
  return transaction.isLate && isSeen(transaction);
}

/**
 * True when this payment and the earlier ones in time reach the amount that the session needs. An accepted session needs
 * what was accepted, late or not.
 */
export function reaches(paymentCase: PaymentCase): boolean {
  const { session, transaction } = paymentCase;
  if (isAnother(session, transaction)) return false;
  const before = paidBefore(paymentCase);
  if (session.acceptedAmount !== null) return sumOf(before) + transaction.amount >= session.acceptedAmount;
  if (cameLate(session, transaction)) return false;
  const inTime = before.filter(other => !other.isLate);
  return sumOf(inTime) + transaction.amount - reservedIn(session) >= owed(session, transaction, inTime);
}

/** A certain payer pays the price, less the tolerance. A payment matched by amount has to be the exact amount due. */
export function owed(
  session: CheckoutSession,
  transaction: PaymentTransaction,
  before: readonly PaymentTransaction[] = [],
): bigint {
  return transaction.matchedBy === 'amount'
    ? session.amountDue
    : neededSum(session, [...before, transaction]);
}

/**
 * True after the session's expiry or in a block past its life. The payment that completed it was in time; those of an
 * accepted session stay as they were.
 */
export function cameLate(session: CheckoutSession, { id, blockTime, isLate }: PaymentTransaction): boolean {
  if (session.acceptedAt !== null) return isLate;
  if (session.status === 'completed' && session.transactionId === id) return false;
  return (
    session.status === 'expired' ||
    (blockTime !== null && blockTime > session.expiresAt + LIFE_ALLOWANCE.afterMs)
  );
}

/** True when another transaction completed the session and still stands. */
export function isAnother(session: CheckoutSession, { id }: PaymentTransaction): boolean {
  return session.status === 'completed' && !session.isReorged && session.transactionId !== id;
}

function paidBefore({ others }: PaymentCase): PaymentTransaction[] {
  return others.filter(other => other.status === 'completed' && !other.isDuplicate);
}

export function overpaid(paymentCase: PaymentCase): bigint | null {
  const { session, transaction } = paymentCase;
  const beyond = sumOf(paidBefore(paymentCase)) + transaction.amount - session.amountDue;
  if (beyond <= 0n) return null;
  return beyond < transaction.amount ? beyond : transaction.amount;
}

function sumOf(transactions: readonly PaymentTransaction[]): bigint {
  return transactions.reduce((sum, { amount }) => sum + amount, 0n);
}

/**
 * The session as its other payments pay it, and the duplicates among them that count from now on, oldest first. Undefined
 * when they do not reach its price. A duplicate whose block is not proven never counts, because it may need a proof.
 */
export function paidWithout({
  session,
  others,
}: PaymentCase):
  | { readonly paid: CheckoutSession; readonly counted: readonly PaymentTransaction[] }
  | undefined {
  const standing = others.filter(
    one => one.status === 'completed' && (!one.isLate || session.acceptedAt !== null),
  );
  const before = standing.filter(one => !one.isDuplicate);
  const duplicates = standing.filter(one => one.isDuplicate && one.proven !== false);
  const open = { ...session, isReorged: true };
  for (let count = 0; count <= duplicates.length; count++) {
    const counted = duplicates.slice(0, count).map(one => ({ ...one, isDuplicate: false }));
    const all = [...before, ...counted];
    const last = all.at(-1);
    if (last === undefined || !reaches({ session: open, transaction: last, others: all.slice(0, -1) }))
      continue;
    const payment = all.find(({ id }) => id === session.transactionId) ?? last;
    const { id: transactionId, sender: payerAddress, txHash, confirmations } = payment;
    return {
      paid: { ...session, transactionId, payerAddress, txHash, confirmations },
      counted: counted.map((one, index) => ({
        ...one,
        isPartial: one.amount < owed(session, one),
        overpaidAmount: overpaid({
          session,
          transaction: one,
          others: [...before, ...counted.slice(0, index)],
        }),
      })),
    };
  }
  return undefined;
}
