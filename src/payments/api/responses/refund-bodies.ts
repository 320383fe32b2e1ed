import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { timestamp } from '#lib/clock.ts';
import { paymentUri, transactionRequest } from '../../amounts/payment-uri.ts';
import { type DestinationSource, isProved, type Refund } from '../../model/refund.ts';
import type { RefundableMoney } from '../../refunds/refundable-money.ts';
import { nullableTimestamp } from './answers.ts';

/** A refund in the contract's form (Decision 350). */
export function refundBody(refund: Refund): PaymentsSchemas['Refund'] {
  const request = { ...refund, recipientAddress: refund.destination };
  const isToSend = refund.status === 'requires_action';
  const { value, ...call } = transactionRequest(request);
  return {
    object: 'refund',
    id: refund.id,
    mode: refund.mode,
    status: refund.status,
    session_id: refund.sessionId,
    transaction_id: refund.transactionId,
    unmatched_transfer_id: refund.unmatchedTransferId,
    chain_id: refund.chainId,
    token_address: refund.tokenAddress,
    amount: refund.amount.toString(),
    destination_address: refund.destination,
    destination_source: refund.destinationSource,
    destination_proved: isProved(refund.destinationSource),
    payment_uri: isToSend ? paymentUri(request) : null,
    transaction_request: isToSend ? { ...call, value: value.toString() } : null,
    tx_hash: refund.txHash,
    confirmations: refund.confirmations,
    required_confirmations: refund.requiredConfirmations,
    failure_reason: refund.failureReason,
    reason: refund.reason,
    created_by: refund.createdBy,
    completed_by: refund.completedBy,
    cancelled_by: refund.cancelledBy,
    cancelled_reason: refund.cancelledReason,
    expires_at: timestamp(refund.expiresAt),
    created_at: timestamp(refund.createdAt),
    updated_at: timestamp(refund.updatedAt),
    completed_at: nullableTimestamp(refund.completedAt),
    cancelled_at: nullableTimestamp(refund.cancelledAt),
  };
}

/** Refundable amount and possible destinations in the contract's form (Decision 351). */
export function optionsBody(money: RefundableMoney): PaymentsSchemas['RefundOptions'] {
  return {
    object: 'refund_options',
    session_id: money.sessionId,
    transaction_id: money.transactionId,
    unmatched_transfer_id: money.unmatchedTransferId,
    chain_id: money.chainId,
    token_address: money.tokenAddress,
    amount_received: money.received.toString(),
    amount_reserved: money.reserved.toString(),
    amount_refundable: (money.refundable > 0n ? money.refundable : 0n).toString(),
    destinations: money.destinations.map(({ address, source, previousAddress }) => ({
      address,
      source,
      proved: isProved(source),
      previous_address: previousAddress,
      warning: WARNINGS[source] ?? null,
    })),
  };
}

const WARNINGS: Readonly<Partial<Record<DestinationSource, string>>> = {
  sender:
    'The address that sent the money may belong to an exchange or a contract. Money that is sent there is lost.',
  payer: 'Nobody has proved that the address belongs to the payer. Compare it with what the payer tells you.',
};
