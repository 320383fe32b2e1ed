import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { needsProof, type PaymentChains } from '../model/payment-chain.ts';
import type { PaymentTransaction, TransactionStatus } from '../model/payment-transaction.ts';
import { type FailureReason, holdsUse } from '../model/session.ts';
import { select } from '../tables/select.ts';
import type { PaymentCase } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { completed, failed, lacksProof, needsUse, type Obstacle, orphaned, reorged } from './settling.ts';

/**
 * State changes of a recorded transaction, by its id, as its block gains confirmations or disappears. `inBlock` is the
 * hash of the block that its state was judged in, null for none. A transaction that was found in another block meanwhile
 * stays unchanged.
 */
export function outcomes(unit: SettlementUnit) {
  const { handle, now } = unit;

  return {
    /**
     * Writes the same number of confirmations to confirming transactions and to their sessions. Transactions that need
     * fewer or are not confirming stay unchanged. Takes two statements for all of them, because it runs at every block.
     */
    async progress(transactionIds: readonly string[], confirmations: number): Promise<void> {
      const rows = await select({ from: 'transactions', columns: ['id'] }).changed(
        handle,
        `update transactions set confirmations = ?
         where id in (${placeholders(transactionIds.length)}) and status = 'confirming'
           and confirmations <> ? and required_confirmations >= ?`,
        [confirmations, ...transactionIds, confirmations, confirmations],
      );
      if (rows.length === 0) return;
      await execute(
        handle,
        `update checkout_sessions set confirmations = t.confirmations, updated_at = ? from transactions t
         where t.id in (${placeholders(rows.length)}) and t.session_id = checkout_sessions.id
           and t.tx_hash = checkout_sessions.tx_hash
           and (checkout_sessions.transaction_id is null or checkout_sessions.transaction_id = t.id)`,
        [now, ...rows.map(({ id }) => id)],
      );
    },

    /**
     * Completes a confirming transaction and settles its session. Returns any other transaction unchanged. `proven` says
     * whether its block was recomputed; null when it was not tried.
     */
    async complete(
      transactionId: string,
      inBlock?: string | null,
      { proven = null, isRequired = false }: Proof = {},
    ): Promise<PaymentTransaction> {
      const account = await unit.caseOf(transactionId);
      if (!stands(account, ['confirming'], inBlock)) return account.transaction;
      const judged = { ...account, transaction: { ...account.transaction, proven } };
      const obstacle = isRequired && lacksProof(judged) ? 'unproven' : await obstacleTo(unit, judged);
      return unit.write(completed(judged, obstacle, now));
    },

    /** Records of a completed transaction whether its block was recomputed, unless that is known. */
    async prove(transactionId: string, inBlock: string | null, proven: boolean): Promise<void> {
      await handle('transactions')
        .where({ id: transactionId, status: 'completed', block_hash: inBlock })
        .whereNull('proven')
        .update({ proven });
    },

    /** Fails a pending or confirming transaction. Returns any other transaction unchanged. */
    async fail(
      transactionId: string,
      reason: FailureReason,
      inBlock?: string | null,
    ): Promise<PaymentTransaction> {
      const account = await unit.caseOf(transactionId);
      if (!stands(account, ['pending', 'confirming'], inBlock)) return account.transaction;
      return unit.write(failed(account, reason, now));
    },

    /** Makes a confirming transaction pending again when its block is gone. Returns any other transaction unchanged. */
    async orphan(transactionId: string, inBlock?: string | null): Promise<PaymentTransaction> {
      const account = await unit.caseOf(transactionId);
      if (!stands(account, ['confirming'], inBlock)) return account.transaction;
      return unit.write(orphaned(account, now));
    },

    /**
     * Counts the payments of an open session again, because a refund has ended that needed some of its money. Completes
     * the session if they reach its price.
     */
    async recount(sessionId: string, chains: Pick<PaymentChains, 'find'>): Promise<void> {
      const session = await unit.sessionOf(sessionId);
      const all = await unit.transactions.ofSession(sessionId);
      const transaction = latestCompleted(all);
      if (session.status !== 'active' || transaction === undefined) return;
      const account = { session, transaction, others: all.filter(one => one !== transaction) };
      const isHeld = needsProof(chains, session) && lacksProof(account);
      const move = completed(account, isHeld ? 'unproven' : await obstacleTo(unit, account), now);
      await unit.write({
        ...move,
        transaction: { ...move.transaction, completedAt: transaction.completedAt },
        // The payment itself was reported when it completed.
        events: move.events.filter(({ type }) => type !== 'payment.completed'),
      });
    },

    /**
     * Fails a completed transaction whose block is gone, until it is seen in another block. Returns any other
     * transaction unchanged.
     */
    async reorg(transactionId: string, inBlock?: string | null): Promise<PaymentTransaction> {
      const account = await unit.caseOf(transactionId);
      if (!stands(account, ['completed'], inBlock)) return account.transaction;
      return unit.write(reorged(account, now));
    },
  };
}

function stands(
  { transaction }: PaymentCase,
  statuses: readonly TransactionStatus[],
  inBlock = transaction.blockHash,
): boolean {
  return statuses.includes(transaction.status) && transaction.blockHash === inBlock;
}

/** The payment of a session that completed last. */
export function latestCompleted(all: readonly PaymentTransaction[]): PaymentTransaction | undefined {
  const completed = all.filter(({ status }) => status === 'completed');
  return completed.toSorted((one, other) => (other.completedAt ?? 0) - (one.completedAt ?? 0))[0];
}

/** Counts a use of the session's link when the completion needs one. An obstacle when none was left for it. */
export async function obstacleTo(
  { links, now }: SettlementUnit,
  account: PaymentCase,
): Promise<Obstacle | undefined> {
  const { session } = account;
  if (session.paymentLinkId === null || !needsUse(account)) return undefined;
  const isCounted = await links.countUse(session.paymentLinkId, now, holdsUse(session, now));
  return isCounted ? undefined : 'sold_out';
}

/** Proof of a payment that is to be completed, and whether its session waits for the merchant without one. */
interface Proof {
  readonly proven?: boolean | null;
  readonly isRequired?: boolean;
}
