import type { PaymentsHandlers } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { settlement } from '../settlement/settlement.ts';
import type { PaymentsContext } from './gate/api-context.ts';
import type { AnonymousCaller, ApiCaller } from './gate/caller.ts';
import { notFound } from './responses/not-found.ts';
import { sessionBody } from './responses/session-body.ts';

/** Payments of test sessions without a chain; for a live key there is no such thing. Decision 116. */
export function simulationHandlers(
  context: PaymentsContext,
): Pick<PaymentsHandlers<ApiCaller, AnonymousCaller>, 'simulatePayment'> {
  const { seals, clock } = context;
  return {
    simulatePayment: ({ path: { checkout_session_id: id }, body: { outcome } }, caller) =>
      caller.commit(async handle => {
        if (caller.mode !== 'test') throw notFound('checkout_session', id);
        const sessions = sessionStore(handle, seals);
        const session = await sessions.find(caller, id);
        if (session === undefined) throw notFound('checkout_session', id);
        if (outcome === 'underpaid' && session.amount === 1n) {
          const message = 'Of an amount of 1 nothing is left to pay only in part.';
          throw paymentsError('invalid_field_value', message, { param: 'outcome' });
        }
        const settled = settlement({ handle, seals, now: clock.now() });
        if ((await settled.simulate(session, outcome)) === undefined) {
          throw paymentsError(
            'invalid_status_transition',
            `The checkout session is ${session.status}, so it cannot be paid.`,
          );
        }
        const paid = await sessions.find(caller, id);
        return { status: 200, body: sessionBody(paid ?? session, context) };
      }),
  };
}
