import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { timestamp } from '#lib/clock.ts';
import { amountAskedOf } from '../../amounts/asked-amount.ts';
import { outcomeOf } from '../../model/outcome.ts';
import { availabilityOf, type PaymentLink } from '../../model/payment-link.ts';
import type { PaymentMove, PaymentTransaction } from '../../model/payment-transaction.ts';
import { type CheckoutSession, percentOf } from '../../model/session.ts';
import { shownLogIndex } from '../../model/transfer.ts';
import type { PaymentsContext } from '../gate/api-context.ts';
import { nullableTimestamp } from './answers.ts';

/** A payment link in the contract's form; `now` (UTC ms) decides its availability. */
export function linkBody(
  link: PaymentLink,
  { publicUrl, now }: { publicUrl: string; now: number },
): PaymentsSchemas['PaymentLink'] {
  return {
    object: 'payment_link',
    id: link.id,
    mode: link.mode,
    name: link.name,
    description: link.description,
    short_code: link.shortCode,
    url: `${publicUrl}/pay/${link.shortCode}`,
    is_active: link.isActive,
    availability: availabilityOf(link, now),
    amount: amountText(link.amount),
    min_amount: amountText(link.minAmount),
    max_amount: amountText(link.maxAmount),
    suggested_amount: amountText(link.suggestedAmount),
    token_address: link.tokenAddress,
    chain_id: link.chainId,
    recipient_address: link.recipientAddress,
    image_url: link.imageUrl,
    theme_color: link.themeColor,
    button_text: link.buttonText,
    return_url: link.returnUrl,
    return_label: link.returnLabel,
    branding: link.branding,
    form_schema: link.formSchema,
    shipping_options: [...link.shippingOptions],
    collect_shipping_address: link.collectShippingAddress,
    items: [...link.items],
    max_uses: link.maxUses,
    reserve_uses: link.reserveUses,
    current_uses: link.currentUses,
    payment_method: link.paymentMethod,
    payment_tolerance: link.toleranceBps === null ? null : percentOf(link.toleranceBps),
    expires_at: nullableTimestamp(link.expiresAt),
    metadata: link.metadata,
    created_at: timestamp(link.createdAt),
    updated_at: timestamp(link.updatedAt),
  };
}

function amountText(amount: bigint | null): string | null {
  return amount === null ? null : amount.toString();
}

/** A session as its merchant sees it, with three states and a payment status (Decision 110). */
export function sessionBody(
  session: CheckoutSession,
  { publicUrl }: Pick<PaymentsContext, 'publicUrl'>,
): PaymentsSchemas['CheckoutSession'] {
  return {
    object: 'checkout_session',
    id: session.id,
    mode: session.mode,
    url: `${publicUrl}/pay/s/${session.id}`,
    status: session.status,
    payment_status: session.paymentStatus,
    outcome: outcomeOf(session),
    payment_link_id: session.paymentLinkId,
    chain_id: session.chainId,
    token_address: session.tokenAddress,
    recipient_address: session.recipientAddress,
    subtotal: session.subtotal.toString(),
    amount: session.amount.toString(),
    ...amountAskedOf(session),
    payment_tolerance: percentOf(session.toleranceBps),
    amount_received: session.amountReceived.toString(),
    amount_refunded: session.amountRefunded.toString(),
    amount_reserved: session.amountReserved.toString(),
    amount_overpaid: session.amountOverpaid.toString(),
    confirmations: session.confirmations,
    required_confirmations: session.requiredConfirmations,
    payer_address: session.payerAddress,
    tx_hash: session.txHash,
    transaction_id: session.transactionId,
    is_reorged: session.isReorged,
    use_reserved_until: nullableTimestamp(session.useReservedUntil),
    ended_reason: session.endedReason,
    accepted_at: nullableTimestamp(session.acceptedAt),
    accepted_by: session.acceptedBy,
    accepted_reason: session.acceptedReason,
    success_url: session.successUrl,
    cancel_url: session.cancelUrl,
    product_name: session.presentation.name,
    clientReferenceId: session.clientReferenceId,
    metadata: session.metadata,
    customer_id: session.customerId || null,
    customerEmail: session.customerEmail,
    customerName: session.customerName,
    form_data: session.formData,
    form_labels: { ...session.presentation.formLabels },
    shipping_address: session.shippingAddress,
    shipping_option: session.shippingOption,
    expires_at: timestamp(session.expiresAt),
    created_at: timestamp(session.createdAt),
    updated_at: timestamp(session.updatedAt),
    completed_at: nullableTimestamp(session.completedAt),
  };
}

type Body = PaymentsSchemas['PaymentTransaction'];
type FieldsOfRecords =
  | 'product_name'
  | 'clientReferenceId'
  | 'customer_id'
  | 'customerEmail'
  | 'customerName'
  | 'form_data'
  | 'shipping_address'
  | 'shipping_option'
  | 'metadata'
  | 'moves'
  | 'sweep_tx_hash';

/** Fields of a transaction's own row. */
export type PlainTransaction = Omit<Body, FieldsOfRecords>;

/** Parts of a transaction's record from other tables. */
interface TransactionExtras {
  /** The earliest first. */
  readonly moves: readonly PaymentMove[];
  /** Undefined while its money lies on a deposit address, and for payments to other addresses. */
  readonly sweepTxHash?: string | undefined;
}

/** A transaction with the payer's data from its session (Decision 111), its moves and its sweep. */
export function transactionBody(
  transaction: PaymentTransaction,
  session: CheckoutSession,
  { moves, sweepTxHash }: TransactionExtras,
): Body {
  const plain = plainTransaction(transaction);
  const { discount_code, created_at, confirmed_at, completed_at, ...others } = plain;
  const { assigned_at, assigned_by, assigned_reason, moved_from, proven, ...rest } = others;
  return {
    ...rest,
    product_name: session.presentation.name,
    clientReferenceId: session.clientReferenceId,
    customer_id: session.customerId || null,
    customerEmail: session.customerEmail,
    customerName: session.customerName,
    form_data: session.formData,
    shipping_address: session.shippingAddress,
    shipping_option: session.shippingOption,
    discount_code,
    metadata: session.metadata,
    created_at,
    confirmed_at,
    completed_at,
    assigned_at,
    assigned_by,
    assigned_reason,
    moved_from,
    proven,
    sweep_tx_hash: sweepTxHash ?? null,
    moves: moves.map(one => ({
      session_id: one.sessionId,
      moved_at: timestamp(one.movedAt),
      moved_by: one.movedBy,
      moved_reason: one.movedReason,
    })),
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
    log_index: shownLogIndex(transaction.logIndex),
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
    confirmed_at: nullableTimestamp(transaction.confirmedAt),
    completed_at: nullableTimestamp(transaction.completedAt),
    assigned_at: nullableTimestamp(transaction.assignedAt),
    assigned_by: transaction.assignedBy,
    assigned_reason: transaction.assignedReason,
    moved_from: transaction.movedFrom,
    proven: transaction.proven,
  };
}
