import type { PaymentTransaction } from '../model/payment-transaction.ts';
import {
  type CheckoutSession,
  type EndedReason,
  type FailureReason,
  payableAddress,
} from '../model/session.ts';
import {
  cameLate,
  type EventAnnouncement,
  isAnother,
  type Move,
  overpaid,
  owed,
  type PaymentCase,
  paidWithout,
  reaches,
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

/**
 * Failed: its block is gone after completion. A session that it completed stays completed, with `isReorged` unless the
 * payments that stand pay it as well.
 */
export function reorged(paymentCase: PaymentCase, now: number): Move {
  const { session, transaction, others } = paymentCase;
  if (!isCounted(session, transaction)) return failed(paymentCase, 'reorged', now);
  const standing = session.isReorged ? undefined : paidWithout(paymentCase);
  if (standing !== undefined) {
    const { paid, counted } = standing;
    const all = others.map(other => counted.find(({ id }) => id === other.id) ?? other);
    const dropped = failed({ session: paid, transaction, others: all }, 'reorged', now);
    return { ...dropped, counted };
  }
  const dropped = failed({ ...paymentCase, session: { ...session, isReorged: true } }, 'reorged', now);
  return session.isReorged ? dropped : { ...dropped, use: 'returned' };
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
