import type { Actor } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import { type Move, type PaymentCase, withTotals } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';

/** A decision of the merchant: who made it, and why. */
export interface Decision {
  readonly actor: Actor;
  readonly reason: string | null;
}

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
      const [transaction] = all
        .filter(one => one.status === 'completed')
        .toSorted((one, other) => (other.completedAt ?? 0) - (one.completedAt ?? 0));
      const refusal = refusalOf(session, all);
      if (refusal !== undefined) return { refusal };
      if (transaction === undefined) return { refusal: 'has no confirmed payment' };

      const others = all.filter(one => one !== transaction);
      const move = accepted({ session, transaction, others }, decision, unit.now);
      await unit.write(move);
      return { session: move.session };
    },
  };
}

function refusalOf(
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
  const completed: CheckoutSession = {
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
  const totals = withTotals({ ...paymentCase, session: completed }, now);
  return {
    transaction,
    session: { ...totals, amountOverpaid: 0n, acceptedAmount: totals.amountReceived },
    events: [{ type: 'checkout.completed', fact: `${session.id}:completed` }],
    use: 'taken',
  };
}
