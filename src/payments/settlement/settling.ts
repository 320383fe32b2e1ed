import type { PaymentTransaction } from '../model/payment-transaction.ts';
import {
  type CheckoutSession,
  type EndedReason,
  type FailureReason,
  LIFE_ALLOWANCE,
  payableAddress,
} from '../model/session.ts';
import {
  type EventAnnouncement,
  type Move,
  neededSum,
  type PaymentCase,
  reservedIn,
  type SeenMoney,
  type TransferEvidence,
  withTotals,
} from './session-totals.ts';

/*
 * All moves (state changes) of a transaction, with their effect on its session and their events. Every matched transfer
 * is a transaction (Decision 111). The caller checks that a move is due, so that repeating it changes nothing.
 */

/**
 * First record of a transaction, before it is seen in a block. Until then its amount is the amount due, and its recipient the
 * address that the payer sees.
 */
export function unseen(
  session: CheckoutSession,
  { id, txHash, matchedBy }: Pick<PaymentTransaction, 'id' | 'txHash' | 'matchedBy'>,
  now: number,
): PaymentTransaction {
  return {
    id,
    organizationId: session.organizationId,
    mode: session.mode,
    status: 'pending',
    paymentLinkId: session.paymentLinkId,
    sessionId: session.id,
    chainId: session.chainId,
    tokenAddress: session.tokenAddress,
    amount: session.amountDue,
    sender: null,
    recipient: payableAddress(session),
    txHash,
    ...NOWHERE,
    requiredConfirmations: session.requiredConfirmations,
    matchedBy,
    failureReason: null,
    isLate: false,
    isDuplicate: false,
    isPartial: false,
    overpaidAmount: null,
    nonce: null,
    createdAt: now,
    confirmedAt: null,
    completedAt: null,
    assignedAt: null,
    assignedBy: null,
    assignedReason: null,
    movedFrom: null,
    balanceBlock: null,
  };
}

/** Pending: a claim waits for a block. Also restarts a claim that had failed. */
export function awaited(paymentCase: PaymentCase, now: number): Move {
  const transaction = { ...paymentCase.transaction, status: 'pending' as const, failureReason: null };
  return { transaction, session: withTotals({ ...paymentCase, transaction }, now), events: [] };
}

/** Confirming: seen in a block. The marks late, duplicate and partial are as if it completed now. */
export function seenInBlock(
  paymentCase: PaymentCase,
  transfer: SeenMoney,
  evidence: TransferEvidence,
  now: number,
): Move {
  const { session, transaction: before } = paymentCase;
  const seen: PaymentTransaction = {
    ...before,
    status: 'confirming',
    amount: transfer.amount,
    sender: transfer.sender,
    recipient: transfer.recipient,
    txHash: transfer.txHash,
    logIndex: transfer.logIndex,
    blockNumber: transfer.blockNumber,
    blockHash: transfer.blockHash,
    blockTime: transfer.blockTime,
    confirmations: Math.min(evidence.confirmations, before.requiredConfirmations),
    proven: null,
    // A transaction seen before keeps its match: an assignment stays one when its block changes.
    matchedBy: before.sender === null ? evidence.matchedBy : before.matchedBy,
    failureReason: null,
  };
  const isDuplicate = isAnother(session, seen);
  const transaction = {
    ...seen,
    isDuplicate,
    isLate: cameLate(session, seen),
    isPartial: !isDuplicate && seen.amount < owed(session, seen),
  };
  return { transaction, session: withTotals({ ...paymentCase, transaction }, now), events: [] };
}

/** True when its completion completes an active session of a link. A use of the link must be counted first. */
export function needsUse(paymentCase: PaymentCase): boolean {
  const { session } = paymentCase;
  return session.status === 'active' && session.paymentLinkId !== null && reaches(paymentCase);
}

/** Reason why a payment that reaches the price of an active session does not complete it, but ends it. */
export type Obstacle = Extract<EndedReason, 'sold_out' | 'unproven'>;

/**
 * True for a payment that would complete an active session, but not without money whose block is not proven (Decision
 * 389). What the merchant assigned was decided.
 */
export function lacksProof(paymentCase: PaymentCase): boolean {
  const { session, transaction, others } = paymentCase;
  if (session.status !== 'active' || !reaches(paymentCase)) return false;
  const isProven = (one: PaymentTransaction) => one.proven !== false || one.matchedBy === 'assignment';
  return !isProven(transaction) || !reaches({ ...paymentCase, others: others.filter(isProven) });
}

/** Completed. The caller has counted a use of the link when `needsUse` is true, unless there is an obstacle. */
export function completed(paymentCase: PaymentCase, obstacle: Obstacle | undefined, now: number): Move {
  const { session, transaction: before } = paymentCase;
  const counts = reaches(paymentCase);
  const completes = counts && obstacle === undefined && session.status === 'active';
  const isDuplicate = isAnother(session, before);
  const transaction: PaymentTransaction = {
    ...before,
    status: 'completed',
    confirmations: before.requiredConfirmations,
    isDuplicate,
    isLate: cameLate(session, before) || (counts && obstacle === 'sold_out'),
    isPartial: !isDuplicate && before.amount < owed(session, before),
    overpaidAmount: isDuplicate ? null : overpaid(paymentCase),
    failureReason: null,
    confirmedAt: before.confirmedAt ?? now,
    completedAt: now,
  };
  const moved = { ...paymentCase, transaction };
  const moveTo = (next: CheckoutSession, ...ends: EventAnnouncement[]): Move => {
    const after = withTotals({ ...moved, session: next }, now);
    const fact = `${transaction.id}:completed:${now}`;
    return {
      transaction,
      session: after,
      events: [{ type: 'payment.completed', fact }, ...mispaid(transaction, after), ...ends],
    };
  };
  if (completes) {
    const ended = { ...session, status: 'completed' as const, completedAt: now, endedAt: now };
    const paid = { ...ended, transactionId: transaction.id, payerAddress: transaction.sender };
    const end = { type: 'checkout.completed', fact: `${session.id}:completed` } as const;
    return { ...moveTo(paid, end), use: 'counted' };
  }
  if (counts && session.status === 'active' && obstacle !== undefined) {
    const ended = { ...session, status: 'expired', endedReason: obstacle, endedAt: now } as const;
    return moveTo(ended, { type: 'checkout.expired', fact: `${session.id}:expired` });
  }
  const isRestored = counts && session.status === 'completed';
  return {
    ...moveTo(isRestored ? restoredBy(moved) : session),
    use: isRestored && session.isReorged ? 'taken' : undefined,
  };
}

/** Events of a completed payment that needs a decision. Each is sent once, although the payment may complete again. */
function mispaid(
  { id, isLate, isDuplicate, overpaidAmount }: PaymentTransaction,
  { amountOverpaid, endedReason }: CheckoutSession,
): EventAnnouncement[] {
  if (isLate || endedReason === 'unproven') return [{ type: 'checkout.paid_late', fact: `${id}:paid_late` }];
  const isTooMuch = (isDuplicate || overpaidAmount !== null) && amountOverpaid > 0n;
  return isTooMuch ? [{ type: 'checkout.overpaid', fact: `${id}:overpaid` }] : [];
}

/** Failed: the payment will not arrive. The payer of an active session may try again. */
export function failed(paymentCase: PaymentCase, failureReason: FailureReason, now: number): Move {
  const transaction: PaymentTransaction = {
    ...paymentCase.transaction,
    ...NOWHERE,
    status: 'failed',
    failureReason,
    overpaidAmount: null,
    confirmedAt: null,
    completedAt: null,
  };
  return {
    transaction,
    session: withTotals({ ...paymentCase, transaction }, now),
    events: [{ type: 'payment.failed', fact: `${transaction.id}:failed:${now}` }],
  };
}

/** Pending again: its block is gone before completion. No event reported it, and it may come back. */
export function orphaned(paymentCase: PaymentCase, now: number): Move {
  const transaction = { ...paymentCase.transaction, ...NOWHERE, status: 'pending' as const };
  return { transaction, session: withTotals({ ...paymentCase, transaction }, now), events: [] };
}

/** Failed: its block is gone after completion. A session that it completed stays completed, with `isReorged`. */
export function reorged(paymentCase: PaymentCase, now: number): Move {
  const { session, transaction } = paymentCase;
  const isMissed = isCounted(session, transaction);
  const marked = isMissed ? { ...session, isReorged: true } : session;
  const dropped = failed({ ...paymentCase, session: marked }, 'reorged', now);
  return isMissed && !session.isReorged ? { ...dropped, use: 'returned' } : dropped;
}

/** True for a payment that the completion of its session counted. */
export function isCounted(session: CheckoutSession, transaction: PaymentTransaction): boolean {
  if (session.status !== 'completed') return false;
  const isInTime = !transaction.isLate || session.acceptedAt !== null;
  return session.transactionId === transaction.id || (!transaction.isDuplicate && isInTime);
}

const NOWHERE = {
  logIndex: null,
  blockNumber: null,
  blockHash: null,
  blockTime: null,
  confirmations: 0,
  proven: null,
};

/**
 * True when this payment and the earlier ones in time reach the amount that the session needs. An accepted session needs
 * what was accepted, late or not.
 */
function reaches(paymentCase: PaymentCase): boolean {
  const { session, transaction } = paymentCase;
  if (isAnother(session, transaction)) return false;
  const before = paidBefore(paymentCase);
  if (session.acceptedAmount !== null) return sumOf(before) + transaction.amount >= session.acceptedAmount;
  if (cameLate(session, transaction)) return false;
  const inTime = before.filter(other => !other.isLate);
  return sumOf(inTime) + transaction.amount - reservedIn(session) >= owed(session, transaction, inTime);
}

/** A certain payer pays the price, less the tolerance. A payment matched by amount has to be the exact amount due. */
function owed(
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
function cameLate(session: CheckoutSession, { id, blockTime, isLate }: PaymentTransaction): boolean {
  if (session.acceptedAt !== null) return isLate;
  if (session.status === 'completed' && session.transactionId === id) return false;
  return (
    session.status === 'expired' ||
    (blockTime !== null && blockTime > session.expiresAt + LIFE_ALLOWANCE.afterMs)
  );
}

/** True when another transaction completed the session and still stands. */
function isAnother(session: CheckoutSession, { id }: PaymentTransaction): boolean {
  return session.status === 'completed' && !session.isReorged && session.transactionId !== id;
}

function paidBefore({ others }: PaymentCase): PaymentTransaction[] {
  return others.filter(other => other.status === 'completed' && !other.isDuplicate);
}

function overpaid(paymentCase: PaymentCase): bigint | null {
  const { session, transaction } = paymentCase;
  const beyond = sumOf(paidBefore(paymentCase)) + transaction.amount - session.amountDue;
  if (beyond <= 0n) return null;
  return beyond < transaction.amount ? beyond : transaction.amount;
}

function sumOf(transactions: readonly PaymentTransaction[]): bigint {
  return transactions.reduce((sum, { amount }) => sum + amount, 0n);
}

/** A completed session whose money is back after a reorganisation. No event is sent twice. */
function restoredBy({ session, transaction, others }: PaymentCase): CheckoutSession {
  const stands = others.some(other => other.id === session.transactionId && other.status === 'completed');
  return {
    ...session,
    isReorged: false,
    transactionId: stands ? session.transactionId : transaction.id,
    payerAddress: stands ? session.payerAddress : transaction.sender,
  };
}
