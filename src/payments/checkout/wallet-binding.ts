import type { PaymentsHandlers } from '../../contract/payments.ts';
import { paymentsError } from '../../contract/payments-errors.ts';
import { transaction } from '../../db/transaction.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import { walletTextFor } from '../model/wallet-message.ts';
import { sessionStore } from '../store/session-store.ts';
import { checkoutState, walletMessageOf } from './bodies.ts';
import type { CheckoutDeps } from './deps.ts';
import { knownSession } from './known-session.ts';

/** Binds the wallet that signed to a session, until a transfer was seen. Decision 114. */
export function walletBinding({
  db,
  seals,
  clock,
  verifySignature,
  ...surroundings
}: CheckoutDeps): Pick<PaymentsHandlers<never, unknown>, 'bindWallet'> {
  return {
    async bindWallet({ path: { checkout_session_id }, body: { address, signature } }) {
      const wallet = address.toLowerCase();
      const session = await knownSession(sessionStore(db, seals), checkout_session_id);
      if (session.status !== 'active') {
        if (session.payerAddress === wallet) return { status: 200, body: checkoutState(session) };
        throw paymentsError(
          'invalid_status_transition',
          `The checkout is ${session.status}, so no wallet can be bound to it.`,
        );
      }
      // Coins that a contract sends leave nothing by which they could be seen.
      const isAccount = session.tokenAddress === NATIVE_COIN;
      // A contract is asked over the network, for which no transaction waits.
      const isSigned = await verifySignature({
        chainId: session.chainId,
        address: wallet,
        message: walletTextFor(walletMessageOf(session, surroundings), wallet),
        signature,
        isAccount,
      });
      if (!isSigned) {
        throw paymentsError(
          'invalid_field_value',
          isAccount
            ? "The 'signature' field must be the signature of 'wallet_message' by the account 'address': the chain's own coin cannot be paid from a contract."
            : "The 'signature' field must be the signature of 'wallet_message' by 'address'.",
          { param: 'signature' },
        );
      }
      const bound = await transaction(db, handle =>
        sessionStore(handle, seals).bindWallet(session.id, wallet, clock.now()),
      );
      if (bound !== undefined) return { status: 200, body: checkoutState(bound) };
      throw paymentsError(
        'invalid_status_transition',
        'The checkout has ended or a payment was seen, so its wallet cannot be changed.',
      );
    },
  };
}
