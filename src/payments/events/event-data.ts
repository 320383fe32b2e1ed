import { getAddress } from 'viem';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { timestamp } from '../../lib/clock.ts';
import type { EventData } from '../model/event.ts';
import { outcomeOf } from '../model/outcome.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { DepositAddress, DepositSweep } from '../model/recipient.ts';
import { isProved, type Refund } from '../model/refund.ts';
import { type CheckoutSession, percentOf } from '../model/session.ts';
import { shownLogIndex, type UnmatchedTransfer } from '../model/transfer.ts';

/** Body of `payment.completed` and `payment.failed`, with the document's fields and ids (Decision 117). */
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
    log_index: shownLogIndex(transaction.logIndex),
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

/** Body of `checkout.completed`: the completing transaction with the payer's choices (Decision 117). */
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
    accepted_at: session.acceptedAt === null ? null : timestamp(session.acceptedAt),
    accepted_by: session.acceptedBy,
    accepted_reason: session.acceptedReason,
  };
}

/** Body of `checkout.expired` (Decision 117). */
export function checkoutExpiredData(session: CheckoutSession): EventData<'checkout.expired'> {
  return {
    id: session.id,
    payment_link_id: session.paymentLinkId,
    amount: session.amount.toString(),
    token_address: session.tokenAddress,
    chain_id: session.chainId,
    recipient_address: session.recipientAddress,
    status: 'expired',
    ended_reason: session.endedReason,
    created_at: timestamp(session.createdAt),
    expired_at: timestamp(session.endedAt ?? session.expiresAt),
    checkoutSession: eventSession(session),
  };
}

/**
 * Body of `checkout.paid_late`, `checkout.overpaid` and `checkout.partially_paid` (Decision 356). The last one has no
 * payment of its own.
 */
export function mispaidCheckoutData(
  session: CheckoutSession,
  payment: PaymentTransaction | undefined,
): EventData<'checkout.paid_late'> {
  const beyond = payment?.isDuplicate === true ? payment.amount : (payment?.overpaidAmount ?? null);
  // A payment after one within the tolerance may fill up the price.
  const overpaid = beyond !== null && beyond > session.amountOverpaid ? session.amountOverpaid : beyond;
  return {
    id: session.id,
    payment_link_id: session.paymentLinkId,
    status: session.status,
    ended_reason: session.endedReason,
    amount: session.amount.toString(),
    amount_received: session.amountReceived.toString(),
    payment_tolerance: percentOf(session.toleranceBps),
    token_address: session.tokenAddress,
    chain_id: session.chainId,
    recipient_address: session.recipientAddress,
    transaction_id: payment?.id ?? null,
    transaction_amount: payment?.amount.toString() ?? null,
    overpaid_amount: overpaid?.toString() ?? null,
    sender_address: payment?.sender ?? null,
    tx_hash: payment?.txHash ?? null,
    form_data: eventFormData(session),
    shipping_address: session.shippingAddress,
    created_at: timestamp(session.createdAt),
    expires_at: timestamp(session.expiresAt),
    checkoutSession: eventSession(session),
  };
}

/** Body of `transfer.unmatched` (Decision 356). */
export function unmatchedTransferData(
  transfer: Omit<UnmatchedTransfer, 'confirmedAt'>,
): EventData<'transfer.unmatched'> {
  return {
    id: transfer.id,
    amount: transfer.amount.toString(),
    token_address: transfer.tokenAddress,
    chain_id: transfer.chainId,
    sender_address: transfer.sender,
    recipient_address: transfer.recipient,
    tx_hash: transfer.txHash,
    log_index: shownLogIndex(transfer.logIndex),
    block_number: transfer.blockNumber,
    block_timestamp: timestamp(transfer.blockTime),
    suggested_session_id: transfer.suggestedSessionId,
    checkoutSession: null,
  };
}

/** Body of `sweep.completed`; without a session when that is deleted (Decision 405). */
export function sweepData(
  sweep: DepositSweep,
  { recipientAddress }: Pick<DepositAddress, 'recipientAddress'>,
  session: CheckoutSession | undefined,
): EventData<'sweep.completed'> {
  return {
    id: `${sweep.txHash}:${sweep.logIndex}`,
    deposit_address: getAddress(sweep.address),
    chain_id: sweep.chainId,
    token_address: sweep.tokenAddress,
    amount: sweep.amount.toString(),
    recipient_address: recipientAddress,
    tx_hash: sweep.txHash,
    log_index: sweep.logIndex,
    block_number: sweep.blockNumber,
    block_timestamp: timestamp(sweep.blockTime),
    checkoutSession: session === undefined ? null : eventSession(session),
  };
}

/** Body of the events of refunds; without a session for an unmatched transfer (Decision 353). */
export function refundData(
  refund: Refund,
  session: CheckoutSession | undefined,
): EventData<'refund.created'> {
  return {
    id: refund.id,
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
    tx_hash: refund.txHash,
    failure_reason: refund.failureReason,
    reason: refund.reason,
    created_at: timestamp(refund.createdAt),
    completed_at: refund.completedAt === null ? null : timestamp(refund.completedAt),
    cancelled_at: refund.cancelledAt === null ? null : timestamp(refund.cancelledAt),
    checkoutSession: session === undefined ? null : eventSession(session),
  };
}

function eventSession(session: CheckoutSession): PaymentsSchemas['EventSession'] {
  const { id, clientReferenceId, metadata, customerEmail, customerName } = session;
  const { name } = session.presentation;
  return { id, name, outcome: outcomeOf(session), clientReferenceId, metadata, customerEmail, customerName };
}

type EventFormData = PaymentsSchemas['EventFormValues'];

/** Keys of `form_data` with a meaning in the document, and the JavaScript types of their values. */
const MEANINGS = { email: 'string', shipping_address: 'object' } as const;
const RESERVED_IDS = ['email', 'shipping_address'] as const;

/**
 * The `form_data` of an event. Form fields cannot be called `email` or `shipping_address` (Decision 150). Answers to
 * such fields of old links are sent as `field_email` and `field_shipping_address`.
 */
function eventFormData({
  formData,
  customerEmail,
  shippingAddress,
}: Pick<CheckoutSession, 'formData' | 'customerEmail' | 'shippingAddress'>): EventFormData {
  return {
    ...renamed(formData ?? {}, RESERVED_IDS),
    ...(customerEmail !== null && { email: customerEmail }),
    ...(shippingAddress !== null && { shipping_address: shippingAddress }),
  };
}

/** The `form_data` of a stored event, in the contract's types. Older events may have other types under the two ids. */
export function typedFormData(stored: EventFormData): EventFormData {
  const mistyped = RESERVED_IDS.filter(id => Object.hasOwn(stored, id) && typeof stored[id] !== MEANINGS[id]);
  return mistyped.length === 0 ? stored : renamed(stored, mistyped);
}

/** Renames keys to `field_…`. The prefix is repeated while the form has an answer under that name. */
function renamed(
  answers: Readonly<Record<string, unknown>>,
  ids: readonly (typeof RESERVED_IDS)[number][],
): EventFormData {
  const moved = new Map(Object.entries(answers));
  for (const id of ids) {
    if (!moved.has(id)) continue;
    let key = `field_${id}`;
    while (moved.has(key)) key = `field_${key}`;
    moved.set(key, moved.get(id));
    moved.delete(id);
  }
  return Object.fromEntries(moved);
}

/** An event for a webhook, or the `test.ping` of a test. */
interface EventPayload {
  readonly id: string;
  readonly type: PaymentsSchemas['DeliveryEventType'];
  /** Time of the event, in UTC milliseconds. */
  readonly createdAt: number;
  readonly data: EventData | PaymentsSchemas['TestPingData'];
}

/**
 * The body of a delivery. It is stored once, and every attempt sends the same body (Decision 122), because receivers
 * check the signature of these exact bytes. Source: document 3, "Delivery".
 */
export function webhookPayload({ id, type, createdAt, data }: EventPayload, webhookId: string): string {
  // JSON.stringify returns well-formed text, so encoding as UTF-8 and decoding does not change it.
  return JSON.stringify({
    id,
    event: type,
    webhook_id: webhookId,
    timestamp: timestamp(createdAt),
    data,
  });
}
