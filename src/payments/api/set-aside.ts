import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import type { SetAsideTransaction } from '../model/set-aside.ts';
import { setAsideList } from '../store/set-aside-list.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { pagedList } from './responses/answers.ts';

/** Operations on transactions that wait for their receipts (Decision 290). */
export function setAsideHandlers({ db, clock }: Pick<PaymentsContext, 'db' | 'clock'>) {
  return {
    async listSetAsideTransactions({ query: { page, limit, chain_id, session_id } }, caller) {
      const filters = { chainId: chain_id, sessionId: session_id };
      const found = await setAsideList(db, caller).list(filters, { page, limit });
      return {
        status: 200,
        body: pagedList('/api/v1/set-aside-transactions', found, one => setAsideBody(one, caller)),
      };
    },

    retrySetAsideTransactions: (_, caller) =>
      caller.commit(async handle => {
        const count = await setAsideList(handle, caller).retry(clock.now());
        return { status: 200, body: { object: 'set_aside_retry', count } as const };
      }),
  } satisfies ApiHandlers;
}

function setAsideBody(
  one: SetAsideTransaction,
  { mode }: Pick<Owner, 'mode'>,
): PaymentsSchemas['SetAsideTransaction'] {
  return {
    object: 'set_aside_transaction',
    id: one.id,
    mode,
    chain_id: one.chainId,
    tx_hash: one.txHash,
    reason: one.reason,
    attempts: one.attempts,
    session_ids: [...one.sessionIds],
    unmatched_transfers: one.unmatchedTransfers,
    set_aside_at: timestamp(one.setAsideAt),
    attempted_at: timestamp(one.attemptedAt),
    next_attempt_at: timestamp(one.nextAttemptAt),
  };
}
