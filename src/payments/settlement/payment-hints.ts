import { newId } from '../../lib/ids.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Account } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { awaited, failed, unseen } from './settling.ts';

/** Records the hashes that payers say are their payments, until a block shows them. */
export function paymentHints(unit: SettlementUnit) {
  const { now } = unit;

  return {
    /** Records a hash as a payment. A known one is answered; undefined for a session that has ended. */
    async claim(
      { id }: Pick<CheckoutSession, 'id'>,
      txHash: string,
    ): Promise<PaymentTransaction | undefined> {
      const session = await unit.sessionOf(id);
      const all = await unit.transactions.ofSession(id);
      const known = all.find(one => one.txHash === txHash);
      if (known !== undefined) {
        const isWorthAnotherLook = session.status === 'active' && isGivenUp(known);
        if (!isWorthAnotherLook) return known;
        const others = all.filter(one => one !== known);
        return unit.write(awaited({ session, transaction: known, others }, now));
      }
      if (session.status !== 'active') return undefined;
      const transaction = unseen(session, { id: newId('txn'), txHash, matchedBy: 'wallet' }, now);
      return unit.writeNew(awaited({ session, transaction, others: all }, now));
    },

    /** Keeps the nonce of a claimed transaction that waits for a block, also of one that was given up as not found. */
    async waiting(transactionId: string, nonce: number): Promise<void> {
      const account = await unit.account(transactionId);
      const { status, nonce: known } = account.transaction;
      if (isGivenUp(account.transaction)) await unit.write(awaited(withNonce(account, nonce), now));
      else if (status === 'pending' && known !== nonce) {
        await unit.transactions.update(withNonce(account, nonce).transaction);
      }
    },

    /** Gives a pending transaction that was repriced its new hash. When that is recorded already, it fails as replaced. */
    async follow(transactionId: string, txHash: string): Promise<void> {
      const account = await unit.account(transactionId);
      const { transaction, others } = account;
      if (transaction.status !== 'pending' || transaction.txHash === txHash) return;
      const isRecorded = others.some(other => other.txHash === txHash);
      const renamed = { ...account, transaction: { ...transaction, txHash } };
      await unit.write(isRecorded ? failed(account, 'replaced', now) : awaited(renamed, now));
    },
  };
}

function isGivenUp({ status, failureReason }: PaymentTransaction): boolean {
  return status === 'failed' && failureReason === 'not_found';
}

function withNonce(account: Account, nonce: number): Account {
  return { ...account, transaction: { ...account.transaction, nonce } };
}
