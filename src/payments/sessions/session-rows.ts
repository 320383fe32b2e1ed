import { booleanOf, jsonColumn, jsonOf, uintColumn, uintOf } from '../../db/columns.ts';
import type { DepositAddress } from '../model/payment-chain.ts';
import type { CheckoutSession, SessionState } from '../model/session.ts';
import type { Cell, Seals } from '../secrets/sealed.ts';
import type { SessionRow } from '../tables/session-tables.ts';

/** Personal data of the payer, stored only encrypted. */
type Customer = Pick<CheckoutSession, 'customerEmail' | 'customerName' | 'formData' | 'shippingAddress'>;

const NOBODY: Customer = { customerEmail: null, customerName: null, formData: null, shippingAddress: null };

/** Columns of a session that change after it was opened. */
export function progressValues(session: CheckoutSession) {
  return {
    status: session.status,
    payment_status: session.paymentStatus,
    amount_received: uintColumn(session.amountReceived),
    payer_address: session.payerAddress,
    tx_hash: session.txHash,
    confirmations: session.confirmations,
    transaction_id: session.transactionId,
    failure_reason: session.failureReason,
    is_late: session.isLate,
    is_reorged: session.isReorged,
    updated_at: session.updatedAt,
    completed_at: session.completedAt,
    ended_at: session.endedAt,
  } satisfies Partial<SessionRow>;
}

/** All columns of a session. */
export function sessionValues(session: CheckoutSession, seals: Seals) {
  return {
    id: session.id,
    organization_id: session.organizationId,
    mode: session.mode,
    payment_link_id: session.paymentLinkId,
    chain_id: session.chainId,
    token_address: session.tokenAddress,
    recipient_address: session.recipientAddress,
    subtotal: uintColumn(session.subtotal),
    amount: uintColumn(session.amount),
    amount_due: uintColumn(session.amountDue),
    is_wallet_only: session.isWalletOnly,
    presentation: jsonColumn(session.presentation),
    required_confirmations: session.requiredConfirmations,
    success_url: session.successUrl,
    cancel_url: session.cancelUrl,
    client_reference_id: session.clientReferenceId,
    metadata: jsonColumn(session.metadata),
    sealed_customer: sealedCustomer(session, seals),
    shipping_option: session.shippingOption && jsonColumn(session.shippingOption),
    expires_at: session.expiresAt,
    created_at: session.createdAt,
    ...progressValues(session),
  } satisfies Omit<SessionRow, 'client_hash' | 'is_price_round'>;
}

/** Columns that `stateOf` reads. */
export const STATE_COLUMNS = [
  'id',
  'chain_id',
  'status',
  'payment_status',
  'amount_due',
  'is_wallet_only',
  'amount_received',
  'payer_address',
  'tx_hash',
  'confirmations',
  'required_confirmations',
  'failure_reason',
  'is_late',
  'success_url',
  'expires_at',
  'completed_at',
] as const satisfies readonly (keyof SessionRow)[];

/** The part of a session that the payer follows. It contains no encrypted data. */
export function stateOf(row: Pick<SessionRow, (typeof STATE_COLUMNS)[number]>): SessionState {
  return {
    id: row.id,
    chainId: row.chain_id,
    status: row.status,
    paymentStatus: row.payment_status,
    amountDue: uintOf(row.amount_due),
    isWalletOnly: booleanOf(row.is_wallet_only),
    amountReceived: uintOf(row.amount_received),
    payerAddress: row.payer_address,
    txHash: row.tx_hash,
    confirmations: row.confirmations,
    requiredConfirmations: row.required_confirmations,
    failureReason: row.failure_reason,
    isLate: booleanOf(row.is_late),
    successUrl: row.success_url,
    expiresAt: row.expires_at,
    completedAt: row.completed_at,
  };
}

/** Converts a row to a session. @throws SealError when the customer's data cannot be decrypted */
export function sessionOf(row: SessionRow, seals: Seals): CheckoutSession {
  return {
    ...stateOf(row),
    organizationId: row.organization_id,
    mode: row.mode,
    paymentLinkId: row.payment_link_id,
    tokenAddress: row.token_address,
    recipientAddress: row.recipient_address,
    subtotal: uintOf(row.subtotal),
    amount: uintOf(row.amount),
    presentation: jsonOf(row.presentation),
    transactionId: row.transaction_id,
    isReorged: booleanOf(row.is_reorged),
    cancelUrl: row.cancel_url,
    clientReferenceId: row.client_reference_id,
    metadata: jsonOf(row.metadata),
    ...customerOf(row, seals),
    shippingOption: row.shipping_option === null ? null : jsonOf(row.shipping_option),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
  };
}

function sealedCustomer(session: CheckoutSession, seals: Seals): string | null {
  const { customerEmail, customerName, formData, shippingAddress } = session;
  const customer: Customer = { customerEmail, customerName, formData, shippingAddress };
  if (Object.values(customer).every(value => value === null)) return null;
  return seals.seal(JSON.stringify(customer), customerCell(session.id));
}

function customerOf({ id, sealed_customer }: SessionRow, seals: Seals): Customer {
  if (sealed_customer === null) return NOBODY;
  return jsonOf<Customer>(seals.open(sealed_customer, customerCell(id)));
}

function customerCell(id: string): Cell {
  return { table: 'checkout_sessions', column: 'sealed_customer', id };
}

/** Condition for sessions or links of one deposit address. Its bindings come from `bindingsOf`. */
export const OF_PLACE = 'chain_id = ? and token_address = ? and recipient_address = ?';

export function bindingsOf(
  place: DepositAddress,
): [chainId: number, tokenAddress: string, recipientAddress: string] {
  return [place.chainId, place.tokenAddress, place.recipientAddress];
}
