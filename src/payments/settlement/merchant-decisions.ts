import type { Decision } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import { moneyOfSession } from '../refunds/refundable-money.ts';
import { endSoldOut } from './ended-sessions.ts';
import { latestCompleted, obstacleTo } from './outcomes.ts';
import { type Move, type PaymentCase, withoutPayment, withTotals } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { completed, isCounted } from './settling.ts';
import { transferDecisions } from './transfer-decisions.ts';

/** Reason why a session cannot be accepted, which completes the sentence "The checkout session …". */
type AcceptanceRefusal = string;

/**
 * Acceptance of a session whose money arrived without completing it (Decision 345). It is the only way out of
 * `expired`: neither a payer nor the simulator can complete a session that has ended.
 */
export function acceptance(unit: SettlementUnit) {
  return {
    /** Completes the session and counts a use of its link, or says why not. */
    async accept(
      { id }: Pick<CheckoutSession, 'id'>,
      decision: Decision,
    ): Promise<{ readonly session: CheckoutSession } | { readonly refusal: AcceptanceRefusal }> {
      const session = await unit.sessionOf(id);
      const all = await unit.transactions.ofSession(id);
      const transaction = latestCompleted(all);
      const refusal = acceptanceRefusal(session, all);
      if (refusal !== undefined) return { refusal };
      if (transaction === undefined) return { refusal: 'has no confirmed payment' };
      const { refundable } = await moneyOfSession(unit.handle, session);
      if (refundable <= 0n) return { refusal: 'has no money left that is not refunded' };

      const others = all.filter(one => one !== transaction);
      const move = accepted({ session, transaction, others }, decision, unit.now);
      await unit.write(move);
      return { session: move.session };
    },
  };
}

function acceptanceRefusal(
  session: CheckoutSession,
  all: readonly PaymentTransaction[],
): AcceptanceRefusal | undefined {
  const { status, endedReason } = session;
  if (status === 'completed') return 'is completed';
  if (endedReason === 'merchant') return 'was ended by the merchant';
  if (endedReason === 'link_deleted') return 'ended because its link was deleted';
  return all.some(one => one.status === 'confirming') ? 'has a payment that is being confirmed' : undefined;
}

/** Completed by the merchant's word. All that was received is what the session costs from now on. */
function accepted(paymentCase: PaymentCase, { actor, reason }: Decision, now: number): Move {
  const { session, transaction } = paymentCase;
  const ended: CheckoutSession = {
    ...session,
    status: 'completed',
    transactionId: transaction.id,
    payerAddress: transaction.sender,
    completedAt: now,
    endedReason: null,
    endedAt: now,
    acceptedAt: now,
    acceptedBy: actor,
    acceptedReason: reason,
  };
  const totals = withTotals({ ...paymentCase, session: ended }, now);
  return {
    transaction,
    session: { ...totals, amountOverpaid: 0n, acceptedAmount: totals.amountReceived },
    events: [{ type: 'checkout.completed', fact: `${session.id}:completed` }],
    use: 'taken',
  };
}

/** A payment that the merchant gives to another session (Decision 346). */
export function reassignment(unit: SettlementUnit) {
  return {
    /**
     * Takes a completed payment from its session and counts it in another one as if it had been assigned to it. Otherwise
     * returns why it stays, which completes the sentence "The transaction …". The caller has checked owner and address.
     */
    async reassign(
      transactionId: string,
      to: Pick<CheckoutSession, 'id'>,
      { actor, reason }: Decision,
    ): Promise<{ readonly transaction: PaymentTransaction } | { readonly refusal: string }> {
      const { now } = unit;
      const from = await unit.caseOf(transactionId);
      const refusal = await reassignmentRefusal(unit, from);
      if (refusal !== undefined) return { refusal };

      const { transaction: before, session: source } = from;
      const target = await unit.sessionOf(to.id);
      const arriving: PaymentTransaction = {
        ...before,
        sessionId: target.id,
        paymentLinkId: target.paymentLinkId,
        status: 'confirming',
        matchedBy: 'assignment',
        assignedAt: now,
        assignedBy: actor,
        assignedReason: reason,
        movedFrom: source.id,
      };
      const others = await unit.transactions.ofSession(target.id);
      const arrival: PaymentCase = { session: target, transaction: arriving, others };
      const move = completed(arrival, await obstacleTo(unit, arrival), now);
      const transaction = { ...move.transaction, completedAt: before.completedAt };
      await unit.transactions.replace(transaction);
      await unit.transactions.recordMove({
        transactionId,
        sessionId: source.id,
        since: before.movedFrom === null ? 0 : (before.assignedAt ?? 0),
        movedAt: now,
        movedBy: actor,
        movedReason: reason,
      });
      await transferDecisions(unit.handle).follow(transaction);
      const left = withoutPayment(from, now);
      await unit.sessions.update(left);
      if (left.status === 'active' && left.paymentLinkId !== null) await endSoldOut(unit, left.paymentLinkId);
      // The time alone would not tell it from the first completion.
      const fact = `${transaction.id}:moved:${target.id}:${now}`;
      const events = move.events.map(one => (one.type === 'payment.completed' ? { ...one, fact } : one));
      return { transaction: await unit.write({ ...move, transaction, events }) };
    },
  };
}

async function reassignmentRefusal(
  { handle }: SettlementUnit,
  { session, transaction }: PaymentCase,
): Promise<string | undefined> {
  if (transaction.status !== 'completed') return 'is not completed';
  if (isCounted(session, transaction)) return 'is part of what completed its session';
  const { refundable } = await moneyOfSession(handle, session, transaction);
  return refundable < transaction.amount ? 'has a refund' : undefined;
}
