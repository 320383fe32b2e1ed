import { getAddress } from 'viem';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { type CheckoutSession, payableAddress, paymentMethodOf, remainingAmount } from '../model/session.ts';
import { paymentUri } from './payment-uri.ts';

type AskedAmount = Pick<
  PaymentsSchemas['CheckoutSession'],
  'amount_due' | 'amount_remaining' | 'payment_method' | 'deposit_address' | 'payment_uri'
>;

/** Fields of a session that say what its payer has to send, and to which address. */
export function amountAskedOf(session: CheckoutSession): AskedAmount {
  return {
    amount_due: session.amountDue.toString(),
    amount_remaining: remainingAmount(session).toString(),
    payment_method: paymentMethodOf(session),
    deposit_address: session.depositAddress && getAddress(session.depositAddress),
    payment_uri: uriOf(session),
  };
}

/** The rest of the price at a deposit address, and the whole price once that is paid. */
function uriOf(session: CheckoutSession): string | null {
  const { amountDue, isWalletOnly, depositAddress } = session;
  const remaining = remainingAmount(session);
  const recipientAddress = payableAddress(session);
  if (depositAddress === null)
    return isWalletOnly ? null : paymentUri({ ...session, recipientAddress, amount: amountDue });
  const amount = remaining > 0n ? remaining : amountDue;
  return paymentUri({ ...session, recipientAddress: getAddress(recipientAddress), amount });
}
