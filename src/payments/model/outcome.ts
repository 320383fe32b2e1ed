import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { CheckoutSession } from './session.ts';

export type Outcome = PaymentsSchemas['Outcome'];

/** Facts of a session from which its outcome follows. */
export type OutcomeFacts = Pick<
  CheckoutSession,
  'status' | 'paymentStatus' | 'amountOverpaid' | 'isReorged' | 'failureReason' | 'endedReason'
>;

/** Outcome of a session: the state of its money. The only place that decides it (Decision 340). */
export function outcomeOf({
  status,
  paymentStatus,
  amountOverpaid,
  isReorged,
  failureReason,
  endedReason,
}: OutcomeFacts): Outcome {
  if (status === 'completed') {
    if (isReorged) return 'dropped';
    return amountOverpaid > 0n ? 'overpaid' : 'paid';
  }
  switch (paymentStatus) {
    case 'confirming':
      return 'confirming';
    case 'paid':
      return endedReason === 'sold_out' ? 'paid_sold_out' : 'paid_late';
    case 'underpaid':
      return 'partial';
    case 'failed':
      if (failureReason === 'reorged') return 'dropped';
      return endedReason === 'sold_out' ? 'sold_out' : 'failed';
    case 'awaiting_payment':
      if (endedReason === 'sold_out') return 'sold_out';
      return status === 'expired' ? 'expired' : 'waiting';
  }
}

/** Outcomes of an open session that its payer may still pay. */
const PAYABLE: readonly Outcome[] = ['waiting', 'partial', 'failed', 'dropped'];

/**
 * True when what the payer sends in time counts (Decision 341). `hasUse` is false when its link has no use left for it.
 */
export function acceptsPayment(
  session: OutcomeFacts,
  { hasUse, isChainLate }: { readonly hasUse: boolean; readonly isChainLate: boolean },
): boolean {
  return session.status === 'active' && hasUse && !isChainLate && PAYABLE.includes(outcomeOf(session));
}
