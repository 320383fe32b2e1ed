import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { CheckoutSession } from '../../model/session.ts';
import { NO_LOG } from '../../model/transfer.ts';
import { timestamp, timestampOrNull } from './answers.ts';

type Body = PaymentsSchemas['PaymentTransaction'];
type OfSession = 'form_data' | 'shipping_address' | 'shipping_option' | 'metadata';

/** The part of a transaction that is texts, numbers and truth values alone: what fits the cells of a table. */
export type PlainTransaction = Omit<Body, OfSession>;

/** A transaction with what its session has of the payer. Decision 111. */
export function transactionBody(transaction: PaymentTransaction, session: CheckoutSession): Body {
  const { discount_code, created_at, confirmed_at, completed_at, ...rest } = plainTransaction(transaction);
  return {
    ...rest,
    form_data: session.formData,
    shipping_address: session.shippingAddress,
    shipping_option: session.shippingOption,
    discount_code,
    metadata: session.metadata,
    created_at,
    confirmed_at,
    completed_at,
  };
}

export function plainTransaction(transaction: PaymentTransaction): PlainTransaction {
  return {
    object: 'transaction',
    id: transaction.id,
    mode: transaction.mode,
    status: transaction.status,
    payment_link_id: transaction.paymentLinkId,
    session_id: transaction.sessionId,
    chain_id: transaction.chainId,
    token_address: transaction.tokenAddress,
    amount: transaction.amount.toString(),
    sender_address: transaction.sender,
    recipient_address: transaction.recipient,
    tx_hash: transaction.txHash,
    log_index: logIndexOf(transaction.logIndex),
    block_number: transaction.blockNumber,
    block_hash: transaction.blockHash,
    confirmations: transaction.confirmations,
    required_confirmations: transaction.requiredConfirmations,
    matched_by: transaction.matchedBy,
    failure_reason: transaction.failureReason,
    late: transaction.isLate,
    duplicate: transaction.isDuplicate,
    partial: transaction.isPartial,
    overpaid_amount: transaction.overpaidAmount?.toString() ?? null,
    discount_code: null,
    created_at: timestamp(transaction.createdAt),
    confirmed_at: timestampOrNull(transaction.confirmedAt),
    completed_at: timestampOrNull(transaction.completedAt),
  };
}

/** Native coins have no log, which a record says as null. */
export function logIndexOf(logIndex: number | null): number | null {
  return logIndex === NO_LOG ? null : logIndex;
}
