import { jsonOf } from '../../db/columns.ts';
import type { RowIn } from '../../db/select/select.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import { isSoldOut } from '../model/payment-link.ts';
import type { CheckoutSession, Customer, SessionState } from '../model/session.ts';
import type { SealedCell, Seals } from '../secrets/sealed.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';
import type { SessionRow } from '../tables/session-tables.ts';

const NO_CUSTOMER: Customer = {
  customerEmail: null,
  customerName: null,
  formData: null,
  shippingAddress: null,
};

/** Fields that change after a session was opened. The payer follows the first ones. */
const FOLLOWED = {
  status: 'plain',
  paymentStatus: 'plain',
  amountReceived: 'uint256',
  amountOverpaid: 'uint256',
  payerAddress: 'plain',
  txHash: 'plain',
  confirmations: 'plain',
  failureReason: 'plain',
  isLate: 'boolean',
  endedReason: 'plain',
  isReorged: 'boolean',
  useReservedUntil: 'plain',
  completedAt: 'plain',
} as const;
const PROGRESS = {
  ...FOLLOWED,
  transactionId: 'plain',
  acceptedAt: 'plain',
  acceptedBy: 'plain',
  acceptedReason: 'plain',
  acceptedAmount: 'uint256',
  updatedAt: 'plain',
  endedAt: 'plain',
} as const;
const STATE = {
  ...FOLLOWED,
  id: 'plain',
  chainId: 'plain',
  paymentLinkId: 'plain',
  amount: 'uint256',
  amountDue: 'uint256',
  depositAddress: 'plain',
  amountRefunded: 'uint256',
  amountReserved: 'uint256',
  isWalletOnly: 'boolean',
  requiredConfirmations: 'plain',
  successUrl: 'plain',
  expiresAt: 'plain',
} as const;

/** Columns of a session that change after it was opened. */
export const { rowOf: progressValues } = recordForm<Pick<CheckoutSession, keyof typeof PROGRESS>>(PROGRESS);
const stateForm = recordForm<Omit<SessionState, 'isSoldOut' | 'reservesUses'>>(STATE);
const sessionForm = recordForm<Omit<CheckoutSession, keyof Customer>>({
  ...PROGRESS,
  ...STATE,
  organizationId: 'plain',
  mode: 'plain',
  tokenAddress: 'plain',
  recipientAddress: 'plain',
  subtotal: 'uint256',
  toleranceBps: 'plain',
  presentation: 'json',
  signedAddress: 'plain',
  cancelUrl: 'plain',
  clientReferenceId: 'plain',
  customerId: 'plain',
  metadata: 'json',
  shippingOption: 'json',
  createdAt: 'plain',
});

/** All columns of a session that follow from it. */
export function sessionValues(session: CheckoutSession, seals: Seals) {
  return { ...sessionForm.rowOf(session), sealed_customer: sealedCustomer(session, seals) };
}

/** The part of a session that the payer follows, and the uses of its link. It contains no encrypted data. */
export const sessionStateRows = select({
  from: 'checkout_sessions s',
  leftJoin: ['payment_links l on l.id = s.payment_link_id'],
  columns: [
    's.id',
    's.chain_id',
    's.payment_link_id',
    's.status',
    's.payment_status',
    's.amount',
    's.amount_due',
    's.deposit_address',
    's.is_wallet_only',
    's.amount_received',
    's.amount_overpaid',
    's.amount_refunded',
    's.amount_reserved',
    's.payer_address',
    's.tx_hash',
    's.confirmations',
    's.required_confirmations',
    's.failure_reason',
    's.is_late',
    's.is_reorged',
    's.use_reserved_until',
    's.ended_reason',
    's.success_url',
    's.expires_at',
    's.completed_at',
    'l.max_uses',
    'l.current_uses',
    'l.reserve_uses',
  ],
});

export function stateOf(row: RowIn<typeof sessionStateRows>): SessionState {
  const { max_uses: maxUses, current_uses: uses, reserve_uses: reserves } = row;
  return {
    ...stateForm.recordOf(row),
    isSoldOut: isSoldOut({ maxUses, currentUses: uses ?? 0 }),
    reservesUses: Boolean(reserves),
  };
}

/** Converts a row to a session. @throws SealError when the customer's data cannot be decrypted */
export function sessionOf(row: SessionRow, seals: Seals): CheckoutSession {
  return { ...sessionForm.recordOf(row), ...customerOf(row, seals) };
}

function sealedCustomer(session: CheckoutSession, seals: Seals): string | null {
  const { customerEmail, customerName, formData, shippingAddress } = session;
  const customer: Customer = { customerEmail, customerName, formData, shippingAddress };
  if (Object.values(customer).every(value => value === null)) return null;
  return seals.seal(JSON.stringify(customer), customerCell(session.id));
}

function customerOf({ id, sealed_customer }: SessionRow, seals: Seals): Customer {
  if (sealed_customer === null) return NO_CUSTOMER;
  return jsonOf<Customer>(seals.open(sealed_customer, customerCell(id)));
}

function customerCell(id: string): SealedCell {
  return { table: 'checkout_sessions', column: 'sealed_customer', id };
}

/** Condition for sessions or links of one paid address. Its bindings come from `bindingsOf`. */
export const AT_ADDRESS = 'chain_id = ? and token_address = ? and recipient_address = ?';

/** The same for the session of a deposit address. */
export const AT_DEPOSIT_ADDRESS = 'chain_id = ? and token_address = ? and deposit_address = ?';

export function bindingsOf(
  address: PaidAddress,
): [chainId: number, tokenAddress: string, recipientAddress: string] {
  return [address.chainId, address.tokenAddress, address.recipientAddress];
}
