import { execute } from '../../db/query.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { FailureReason } from '../model/session.ts';
import type { Account } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { completed, failed, needsUse, orphaned, reorged } from './settling.ts';

/** Moves of a recorded transaction, by its id, as its block deepens or goes. */
export function outcomes(unit: SettlementUnit) {
  const { handle, now } = unit;

  return {
    /** Writes the confirmations of a confirming transaction. */
    async progress(transactionId: string, confirmations: number): Promise<void> {
      const transaction = await unit.transactions.findById(transactionId);
      if (transaction === undefined) throw new Error(`There is no transaction ${transactionId}.`);
      const { status, sessionId, txHash, requiredConfirmations } = transaction;
      const reached = Math.min(confirmations, requiredConfirmations);
      if (status !== 'confirming' || reached === transaction.confirmations) return;
      await unit.transactions.update({ ...transaction, confirmations: reached });
      await execute(
        handle,
        `update checkout_sessions set confirmations = ?, updated_at = ?
         where id = ? and tx_hash = ? and (transaction_id is null or transaction_id = ?)`,
        [reached, now, sessionId, txHash, transactionId],
      );
    },

    /** Confirms a confirming transaction and settles its session. Any other is answered as it is. */
    async complete(transactionId: string): Promise<PaymentTransaction> {
      const account = await unit.account(transactionId);
      if (account.transaction.status !== 'confirming') return account.transaction;
      return unit.write(completed(account, await hasUse(unit, account), now));
    },

    /** Gives up a pending or confirming transaction. Any other is answered as it is. */
    async fail(transactionId: string, reason: FailureReason): Promise<PaymentTransaction> {
      const account = await unit.account(transactionId);
      const { status } = account.transaction;
      if (status !== 'pending' && status !== 'confirming') return account.transaction;
      return unit.write(failed(account, reason, now));
    },

    /** Makes a confirming transaction whose block is gone pending again. Any other is answered as it is. */
    async orphan(transactionId: string): Promise<PaymentTransaction> {
      const account = await unit.account(transactionId);
      if (account.transaction.status !== 'confirming') return account.transaction;
      return unit.write(orphaned(account, now));
    },

    /**
     * Fails a completed transaction whose block is gone, until it is sighted again. Any other is answered as it is.
     */
    async reorg(transactionId: string): Promise<PaymentTransaction> {
      const account = await unit.account(transactionId);
      if (account.transaction.status !== 'completed') return account.transaction;
      return unit.write(reorged(account, now));
    },
  };
}

/** Counts a use of the session's link where one is needed; false when none was left. */
export async function hasUse({ links, now }: SettlementUnit, account: Account): Promise<boolean> {
  const { paymentLinkId } = account.session;
  return paymentLinkId === null || !needsUse(account) || (await links.countUse(paymentLinkId, now));
}
