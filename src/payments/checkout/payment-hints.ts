import type { PaymentsHandlers } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { transaction } from '../../db/transaction.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { settlement } from '../settlement/settlement.ts';
import { transactionStore } from '../store/transaction-store.ts';
import type { CheckoutDeps } from './deps.ts';
import { knownSession } from './known-session.ts';
import { shownState } from './shown-states.ts';

/** How many claimed transactions of a session are looked for at a time: each costs the chain's node. */
const MOST_CLAIMS = 10;

/** Takes note of which transaction a payer says to have paid with; the chain decides. Decision 114. */
export function claims({
  db,
  seals,
  clock,
  isChainLate,
}: CheckoutDeps): Pick<PaymentsHandlers<never, unknown>, 'claimPayment'> {
  return {
    async claimPayment({ path: { checkout_session_id: id }, body: { tx_hash } }) {
      const hash = tx_hash.toLowerCase();
      const claimed = await transaction(db, async handle => {
        const sessions = sessionStore(handle, seals);
        const session = await knownSession(sessions, id);
        const known = await transactionStore(handle).ofSession(id);
        const isKnown = known.some(({ txHash }) => txHash === hash);
        const refusal = whyNot(session, known);
        if (refusal !== undefined) {
          if (isKnown) return session;
          throw paymentsError('invalid_status_transition', refusal);
        }
        // Also for a known one: it may have been given up, and is looked for again.
        await settlement({ handle, seals, now: clock.now() }).claim(session, hash);
        return knownSession(sessions, id);
      });
      return { status: 200, body: await shownState(claimed, isChainLate) };
    },
  };
}

function whyNot(session: CheckoutSession, known: readonly PaymentTransaction[]): string | undefined {
  if (session.status !== 'active')
    return `The checkout is ${session.status}, so nothing can be claimed for it.`;
  if (session.payerAddress === null) return 'Bind the wallet that paid before claiming its payment.';
  if (known.filter(({ status }) => status === 'pending').length >= MOST_CLAIMS)
    return `${MOST_CLAIMS} claimed payments of this checkout are being looked for already.`;
  return undefined;
}
