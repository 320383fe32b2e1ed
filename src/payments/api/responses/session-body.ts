import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { paymentUri } from '../../amounts/payment-uri.ts';
import type { CheckoutSession } from '../../model/session.ts';
import type { PaymentsContext } from '../gate/api-context.ts';
import { timestamp, timestampOrNull } from './answers.ts';

/** A session as its merchant sees it. Decision 110. */
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
    payment_link_id: session.paymentLinkId,
    chain_id: session.chainId,
    token_address: session.tokenAddress,
    recipient_address: session.recipientAddress,
    subtotal: session.subtotal.toString(),
    amount: session.amount.toString(),
    amount_due: session.amountDue.toString(),
    amount_received: session.amountReceived.toString(),
    payment_uri: session.isWalletOnly ? null : paymentUri({ ...session, amount: session.amountDue }),
    confirmations: session.confirmations,
    required_confirmations: session.requiredConfirmations,
    payer_address: session.payerAddress,
    tx_hash: session.txHash,
    transaction_id: session.transactionId,
    is_reorged: session.isReorged,
    success_url: session.successUrl,
    cancel_url: session.cancelUrl,
    clientReferenceId: session.clientReferenceId,
    metadata: session.metadata,
    customerEmail: session.customerEmail,
    customerName: session.customerName,
    form_data: session.formData,
    shipping_address: session.shippingAddress,
    shipping_option: session.shippingOption,
    expires_at: timestamp(session.expiresAt),
    created_at: timestamp(session.createdAt),
    updated_at: timestamp(session.updatedAt),
    completed_at: timestampOrNull(session.completedAt),
  };
}
