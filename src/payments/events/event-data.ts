import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { EventData } from '../model/event.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import { NO_LOG } from '../model/transfer.ts';
import { eventFormData } from './event-form-data.ts';

/** What `payment.completed` and `payment.failed` tell. Decision 117. */
export function paymentData(
  session: CheckoutSession,
  transaction: PaymentTransaction,
): EventData<'payment.completed'> {
  return {
    id: transaction.id,
    payment_link_id: transaction.paymentLinkId,
    session_id: session.id,
    amount: transaction.amount.toString(),
    token_address: transaction.tokenAddress,
    chain_id: transaction.chainId,
    sender_address: transaction.sender,
    recipient_address: transaction.recipient,
    tx_hash: transaction.txHash,
    log_index: transaction.logIndex === NO_LOG ? null : transaction.logIndex,
    status: transaction.status,
    failure_reason: transaction.failureReason,
    late: transaction.isLate,
    duplicate: transaction.isDuplicate,
    form_data: eventFormData(session),
    discount_code: null,
    created_at: timestamp(transaction.createdAt),
    completed_at: transaction.completedAt === null ? null : timestamp(transaction.completedAt),
    checkoutSession: eventSession(session),
  };
}

/** What `checkout.completed` tells: the transaction that completed the session, and what was chosen. Decision 117. */
export function checkoutCompletedData(
  session: CheckoutSession,
  transaction: PaymentTransaction,
): EventData<'checkout.completed'> {
  return {
    ...paymentData(session, transaction),
    shipping_address: session.shippingAddress,
    shipping_option: session.shippingOption,
    discount: null,
    subtotal: session.subtotal.toString(),
    total: session.amount.toString(),
  };
}

/** What `checkout.expired` tells of a session that has expired. Decision 117. */
export function checkoutExpiredData(session: CheckoutSession): EventData<'checkout.expired'> {
  return {
    id: session.id,
    payment_link_id: session.paymentLinkId,
    amount: session.amount.toString(),
    token_address: session.tokenAddress,
    chain_id: session.chainId,
    recipient_address: session.recipientAddress,
    status: 'expired',
    created_at: timestamp(session.createdAt),
    expired_at: timestamp(session.endedAt ?? session.expiresAt),
    checkoutSession: eventSession(session),
  };
}

function eventSession(session: CheckoutSession): PaymentsSchemas['EventSession'] {
  const { id, clientReferenceId, metadata, customerEmail, customerName } = session;
  return { id, clientReferenceId, metadata, customerEmail, customerName };
}

function timestamp(time: number): string {
  return new Date(time).toISOString();
}
