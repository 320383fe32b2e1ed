import type { MatchedBy, PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession, FailureReason } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { type Account, type Move, shifted } from './session-totals.ts';

/*
 * Every move of a transaction, with what it does to its session and what is told of it. Decision 111. Whether a move is
 * due, so that repeating one changes nothing, is for the caller to see.
 */

/** How a transfer was seen: by what it was matched, and how deep its block lies. */
export interface Sight {
  readonly matchedBy: MatchedBy;
  readonly confirmations: number;
}

/** A transaction that nobody has seen yet, as it is recorded first. Its amount is a guess until it is seen. */
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
    recipient: session.recipientAddress,
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
  };
}

/** Waits for a block: a claim, also of one that was given up. */
export function awaited(account: Account, now: number): Move {
  const transaction = { ...account.transaction, status: 'pending' as const, failureReason: null };
  return { transaction, session: shifted({ ...account, transaction }, now), tells: [] };
}

/** Seen in a block. Late, duplicate and partial are what they would be if it were confirmed now. */
export function sighted(account: Account, transfer: Transfer, sight: Sight, now: number): Move {
  const { session, transaction: before } = account;
  const seen: PaymentTransaction = {
    ...before,
    status: 'confirming',
    amount: transfer.amount,
    sender: transfer.sender,
    txHash: transfer.txHash,
    logIndex: transfer.logIndex,
    blockNumber: transfer.blockNumber,
    blockHash: transfer.blockHash,
    blockTime: transfer.blockTime,
    confirmations: Math.min(sight.confirmations, before.requiredConfirmations),
    // Who was seen before stays what it was: an assignment does not become a match when its block changes.
    matchedBy: before.sender === null ? sight.matchedBy : before.matchedBy,
    failureReason: null,
  };
  const isDuplicate = isAnother(session, seen);
  const transaction = {
    ...seen,
    isDuplicate,
    isLate: cameLate(session, seen),
    isPartial: !isDuplicate && seen.amount < owed(session, seen),
  };
  return { transaction, session: shifted({ ...account, transaction }, now), tells: [] };
}

/** Whether its confirmation completes an active session of a link, so that a use of the link has to be counted first. */
export function needsUse(account: Account): boolean {
  const { session } = account;
  return session.status === 'active' && session.paymentLinkId !== null && reaches(account);
}

/** Confirmed. `hasUse`: whether the link had a use left, which was counted; true where `needsUse` is not. */
export function completed(account: Account, hasUse: boolean, now: number): Move {
  const { session, transaction: before } = account;
  const counts = reaches(account);
  const completes = counts && hasUse && session.status === 'active';
  const isDuplicate = isAnother(session, before);
  const transaction: PaymentTransaction = {
    ...before,
    status: 'completed',
    confirmations: before.requiredConfirmations,
    isDuplicate,
    isLate: cameLate(session, before) || (counts && !hasUse),
    isPartial: !isDuplicate && before.amount < owed(session, before),
    overpaidAmount: isDuplicate ? null : overpaid(account),
    failureReason: null,
    confirmedAt: before.confirmedAt ?? now,
    completedAt: now,
  };
  const moved = { ...account, transaction };
  const tells = [{ type: 'payment.completed', fact: `${transaction.id}:completed:${now}` }] as const;
  if (completes) {
    const ended = { ...session, status: 'completed' as const, completedAt: now, endedAt: now };
    const paid = { ...ended, transactionId: transaction.id, payerAddress: transaction.sender };
    return {
      transaction,
      session: shifted({ ...moved, session: paid }, now),
      tells: [...tells, { type: 'checkout.completed', fact: `${session.id}:completed` }],
    };
  }
  const restored = counts && session.status === 'completed' ? restoredBy(moved) : session;
  return { transaction, session: shifted({ ...moved, session: restored }, now), tells };
}

/**
 * Its session ends while it is being confirmed, because nobody watches the chain any more. It stays as it was seen, and
 * is late from now on.
 */
export function overtaken(account: Account, now: number): Move {
  const transaction = { ...account.transaction, isLate: true };
  const session = { ...account.session, status: 'expired' as const, endedAt: account.session.endedAt ?? now };
  return { transaction, session: shifted({ ...account, session, transaction }, now), tells: [] };
}

/** Will not come: while a session is active, its payer may try again. */
export function failed(account: Account, failureReason: FailureReason, now: number): Move {
  const transaction: PaymentTransaction = {
    ...account.transaction,
    ...NOWHERE,
    status: 'failed',
    failureReason,
    overpaidAmount: null,
    confirmedAt: null,
    completedAt: null,
  };
  return {
    transaction,
    session: shifted({ ...account, transaction }, now),
    tells: [{ type: 'payment.failed', fact: `${transaction.id}:failed:${now}` }],
  };
}

/** Left its block before it was confirmed: nobody was told of it, and it may come back. */
export function orphaned(account: Account, now: number): Move {
  const transaction = { ...account.transaction, ...NOWHERE, status: 'pending' as const };
  return { transaction, session: shifted({ ...account, transaction }, now), tells: [] };
}

/** Left its block after it was completed: what it completed stays so, and says that its money is gone. */
export function reorged(account: Account, now: number): Move {
  const { session, transaction } = account;
  const contributed =
    transaction.sender === session.payerAddress && !transaction.isDuplicate && !transaction.isLate;
  const isMissed =
    session.status === 'completed' && (session.transactionId === transaction.id || contributed);
  const marked = isMissed ? { ...session, isReorged: true } : session;
  return failed({ ...account, session: marked }, 'reorged', now);
}

const NOWHERE = { logIndex: null, blockNumber: null, blockHash: null, blockTime: null, confirmations: 0 };

/** Together with what the same sender paid in time: what a wallet owes is the price, by exact amount what was asked. */
function reaches(account: Account): boolean {
  const { session, transaction } = account;
  if (cameLate(session, transaction) || isAnother(session, transaction)) return false;
  const inTime = paidBefore(account).filter(other => !other.isLate);
  return sumOf(inTime) + transaction.amount >= owed(session, transaction);
}

function owed(session: CheckoutSession, { matchedBy }: PaymentTransaction): bigint {
  return matchedBy === 'amount' ? session.amountDue : session.amount;
}

/** After the session's end, or in a later block than that; what completed a session once was in time. */
function cameLate(session: CheckoutSession, { id, blockTime }: PaymentTransaction): boolean {
  if (session.status === 'completed' && session.transactionId === id) return false;
  return session.status === 'expired' || (blockTime !== null && blockTime > session.expiresAt);
}

/** Whether another one completed the session, and is still there. */
function isAnother(session: CheckoutSession, { id }: PaymentTransaction): boolean {
  return session.status === 'completed' && !session.isReorged && session.transactionId !== id;
}

function paidBefore({ transaction, others }: Account): PaymentTransaction[] {
  return others.filter(
    other => other.status === 'completed' && other.sender === transaction.sender && !other.isDuplicate,
  );
}

function overpaid(account: Account): bigint | null {
  const { session, transaction } = account;
  const beyond = sumOf(paidBefore(account)) + transaction.amount - session.amountDue;
  if (beyond <= 0n) return null;
  return beyond < transaction.amount ? beyond : transaction.amount;
}

function sumOf(transactions: readonly PaymentTransaction[]): bigint {
  return transactions.reduce((sum, { amount }) => sum + amount, 0n);
}

/** The money of a completed session is there again: nothing is told or counted twice. */
function restoredBy({ session, transaction, others }: Account): CheckoutSession {
  const stands = others.some(other => other.id === session.transactionId && other.status === 'completed');
  return {
    ...session,
    isReorged: false,
    transactionId: stands ? session.transactionId : transaction.id,
    payerAddress: transaction.sender,
  };
}
