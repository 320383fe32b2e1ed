import { newId } from '../../lib/ids.ts';
import { needsProof, type PaymentChains } from '../model/payment-chain.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import { openTransfers } from '../sessions/open-transfers.ts';
import { earliestPayment, match } from './match.ts';
import { matchReads } from './match-reads.ts';
import { outcomes } from './outcomes.ts';
import type { PaymentCase } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { awaited, failed, unseen } from './settling.ts';
import { transferRecords } from './transfer-records.ts';

/** Records the transaction hashes that payers submit, before a block contains them. */
export function claimMoves(unit: SettlementUnit) {
  const { now } = unit;

  return {
    /**
     * Records a hash as a pending payment. For a known hash, returns its record; if that had failed as not found, an
     * active session looks for it again. Undefined for a new hash of an ended session.
     */
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
      const matchedBy = session.depositAddress === null ? 'wallet' : 'deposit_address';
      const transaction = unseen(session, { id: newId('txn'), txHash, matchedBy }, now);
      return unit.writeNew(awaited({ session, transaction, others: all }, now));
    },

    /** Stores the nonce of a claimed transaction in the pool. One that had failed as not found is pending again. */
    async waiting(transactionId: string, nonce: number): Promise<void> {
      const paymentCase = await unit.caseOf(transactionId);
      const { status, nonce: known } = paymentCase.transaction;
      if (isGivenUp(paymentCase.transaction)) await unit.write(awaited(withNonce(paymentCase, nonce), now));
      else if (status === 'pending' && known !== nonce) {
        await unit.transactions.update(withNonce(paymentCase, nonce).transaction);
      }
    },

    /**
     * Sets the new hash of a repriced pending transaction. It fails as replaced when the session already has that hash.
     */
    async follow(transactionId: string, txHash: string): Promise<void> {
      const paymentCase = await unit.caseOf(transactionId);
      const { transaction, others } = paymentCase;
      if (transaction.status !== 'pending' || transaction.txHash === txHash) return;
      const isRecorded = others.some(other => other.txHash === txHash);
      const renamed = { ...paymentCase, transaction: { ...transaction, txHash } };
      await unit.write(isRecorded ? failed(paymentCase, 'replaced', now) : awaited(renamed, now));
    },
  };
}

function isGivenUp({ status, failureReason }: PaymentTransaction): boolean {
  return status === 'failed' && failureReason === 'not_found';
}

function withNonce(paymentCase: PaymentCase, nonce: number): PaymentCase {
  return { ...paymentCase, transaction: { ...paymentCase.transaction, nonce } };
}

/** Transfers of a wallet that were unmatched until it signed for a session (Decision 344). */
export function provedTransfers(unit: SettlementUnit) {
  const { complete } = outcomes(unit);
  const { insertTransfer } = transferRecords(unit);

  return {
    /**
     * Makes unmatched transfers of a wallet payments of the session that it signed for, by the rules of any
     * other match. Where proofs are required, the watcher completes them all. Repeating it changes nothing.
     */
    async settleTransfersOf(
      sessionId: string,
      wallet: string,
      chains: Pick<PaymentChains, 'find'>,
    ): Promise<void> {
      const { handle, seals } = unit;
      const signed = await unit.sessionOf(sessionId);
      const open = await openTransfers(handle, signed, { sender: wallet, since: earliestPayment(signed) });
      const reads = matchReads(handle, seals);
      const settled = new Set<string>();
      for (const transfer of open) {
        const key = `${transfer.txHash} ${transfer.logIndex}`;
        // A transfer may be listed for several organizations.
        if (settled.has(key)) continue;
        const { organizationId, mode } = transfer;
        const matched = await match(transfer, {
          reads,
          owner: { organizationId, mode },
          claimedBy: new Set(),
        });
        if (matched?.session.id !== sessionId || matched.matchedBy !== 'wallet') continue;
        settled.add(key);
        const { session } = matched;
        const isConfirmed = transfer.confirmedAt !== null && !needsProof(chains, session);
        const confirmations = isConfirmed ? session.requiredConfirmations : 0;
        const { id } = await insertTransfer(session, transfer, { matchedBy: 'wallet', confirmations });
        // The watcher completes it once its block has the confirmations.
        if (isConfirmed) await complete(id);
        reads.follow(session, transfer);
        if ((await unit.sessionOf(sessionId)).status === 'completed') return;
      }
    },
  };
}
