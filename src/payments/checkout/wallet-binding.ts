import type { PaymentsHandlers } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { transaction } from '../../db/transaction.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import type { CheckoutSession } from '../model/session.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { walletMessageOf } from './bodies.ts';
import type { CheckoutDeps, PayerRequest } from './deps.ts';
import { knownSession } from './known-session.ts';
import { shownState } from './shown-states.ts';
import { walletOrigins } from './wallet-origins.ts';

/** Binds the wallet that signed to a session, until a transfer was seen. Decision 114. */
export function walletBinding(deps: CheckoutDeps): Pick<PaymentsHandlers<never, PayerRequest>, 'bindWallet'> {
  const { db, seals, clock, isChainLate } = deps;
  return {
    async bindWallet({ path: { checkout_session_id }, body: { address, signature } }, payer) {
      const wallet = address.toLowerCase();
      const session = await knownSession(sessionStore(db, seals), checkout_session_id);
      if (session.status !== 'active') {
        if (session.payerAddress === wallet)
          return { status: 200, body: await shownState(session, isChainLate) };
        throw paymentsError(
          'invalid_status_transition',
          `The checkout is ${session.status}, so no wallet can be bound to it.`,
        );
      }
      // Coins that a contract sends leave nothing by which they could be seen.
      const isAccount = session.tokenAddress === NATIVE_COIN;
      const origins = await walletOrigins(deps, session, payer);
      const isSigned = await isSignedBy(deps, { session, wallet, signature, isAccount, origins });
      if (!isSigned) {
        throw paymentsError(
          'invalid_field_value',
          isAccount
            ? "The 'signature' field must be the signature of 'wallet_message', with 'address' in it, by the account 'address': the chain's own coin cannot be paid from a contract."
            : "The 'signature' field must be the signature of 'wallet_message', with 'address' and its checksum in it, by 'address'.",
          { param: 'signature' },
        );
      }
      const bound = await transaction(db, handle =>
        sessionStore(handle, seals).bindWallet(session.id, wallet, clock.now()),
      );
      if (bound !== undefined) return { status: 200, body: await shownState(bound, isChainLate) };
      throw paymentsError(
        'invalid_status_transition',
        'The checkout has ended or a payment was seen, so its wallet cannot be changed.',
      );
    },
  };
}

interface SignedBinding {
  readonly session: CheckoutSession;
  readonly wallet: string;
  readonly signature: string;
  readonly isAccount: boolean;
  readonly origins: readonly string[];
}

/** True when the wallet signed the session's message for one of the origins. */
async function isSignedBy(
  deps: CheckoutDeps,
  { session, wallet, signature, isAccount, origins }: SignedBinding,
): Promise<boolean> {
  const { chainId } = session;
  for (const origin of origins) {
    const message = walletMessageOf(session, deps, { origin, address: wallet });
    // A contract is asked over the network, for which no transaction waits.
    if (await deps.verifySignature({ chainId, address: wallet, message, signature, isAccount })) return true;
  }
  return false;
}
