import type { Handle } from '../../db/open.ts';
import type { Decision } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';

/** A decision about a transfer, and its time in UTC milliseconds. */
type TransferDecision = Decision & { readonly now: number };

/** Decisions of merchants about unmatched transfers. The caller has checked that the transfer is in the right state. */
export function transferDecisions(handle: Handle) {
  return {
    /** Records the session and payment of a transfer. False unless it is open. */
    async assign(
      id: string,
      { sessionId, transactionId }: { sessionId: string; transactionId: string },
      { actor, reason, now }: TransferDecision,
    ): Promise<boolean> {
      const changed = await handle('unmatched_transfers')
        .where({ id, assigned_at: null, dismissed_at: null })
        .whereNotNull('confirmed_at')
        .update({
          session_id: sessionId,
          transaction_id: transactionId,
          assigned_at: now,
          assigned_by: actor,
          assigned_reason: reason,
        });
      return changed === 1;
    },

    /** Records the session of an assigned transfer whose payment was moved. */
    async follow({ id, sessionId }: Pick<PaymentTransaction, 'id' | 'sessionId'>): Promise<void> {
      await handle('unmatched_transfers').where({ transaction_id: id }).update({ session_id: sessionId });
    },

    /** Marks an open transfer as no payment. */
    async dismiss(id: string, { actor, reason, now }: TransferDecision): Promise<void> {
      await handle('unmatched_transfers')
        .where({ id, assigned_at: null, dismissed_at: null })
        .update({ dismissed_at: now, dismissed_by: actor, dismissed_reason: reason });
    },

    /** Opens a dismissed transfer again. */
    async restore(id: string, { actor, reason, now }: TransferDecision): Promise<void> {
      await handle('unmatched_transfers').where({ id }).whereNotNull('dismissed_at').update({
        dismissed_at: null,
        dismissed_by: null,
        dismissed_reason: null,
        restored_at: now,
        restored_by: actor,
        restored_reason: reason,
      });
    },
  };
}
