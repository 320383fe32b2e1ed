import { type Binding, uintColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import type { Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Owner } from '../model/owner.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import type { PaymentMove, PaymentTransaction, TransactionStatus } from '../model/payment-transaction.ts';
import type { Transfer } from '../model/transfer.ts';
import { select } from '../tables/select.ts';
import { allOf, countOf, optionalCondition, ownedRow } from './list-query.ts';
import { changeableForm, moveForm, transactionForm } from './transaction-rows.ts';

/** Filters of transactions. `from` (inclusive) and `to` (exclusive) are creation times in UTC milliseconds. */
export interface TransactionFilters {
  readonly status?: TransactionStatus | undefined;
  readonly mark?: 'late' | 'duplicate' | 'partial' | 'overpaid' | undefined;
  readonly chainId?: number | undefined;
  /** Lower case. */
  readonly tokenAddress?: string | undefined;
  readonly paymentLinkId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly movedFrom?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const PAID_BY_SIGNER = select({
  from: 'transactions t',
  join: ['checkout_sessions s on s.id = t.session_id'],
  columns: ['t.session_id', 't.amount'],
});

/** Payments that were matched with a session, or claimed for one. */
export type TransactionStore = ReturnType<typeof transactionStore>;

export function transactionStore(handle: Handle) {
  const where = async (sql: string, bindings: readonly Binding[]): Promise<PaymentTransaction[]> => {
    const rows = await select({ from: 'transactions', columns: ['*'] }).rows(
      handle,
      `where ${sql}`,
      bindings,
    );
    return rows.map(transactionForm.recordOf);
  };

  return {
    async find(owner: Owner, id: string): Promise<PaymentTransaction | undefined> {
      const { sql, bindings } = ownedRow(owner, id);
      return (await where(sql, bindings))[0];
    },

    /** Of any owner. For the watcher. */
    findById: async (id: string): Promise<PaymentTransaction | undefined> => (await where('id = ?', [id]))[0],

    /** Oldest first. */
    ofSession: (sessionId: string): Promise<PaymentTransaction[]> =>
      where('session_id = ? order by created_at, id', [sessionId]),

    /** Sums that a wallet has paid for open sessions that it signed for, confirmed or confirming, by session id. */
    async paidBySigner(
      { chainId, tokenAddress, recipientAddress }: PaidAddress,
      wallet: string,
    ): Promise<Map<string, bigint>> {
      const rows = await PAID_BY_SIGNER.rows(
        handle,
        `where s.chain_id = ? and s.token_address = ? and s.recipient_address = ? and s.signed_address = ?
           and s.ended_at is null and t.sender = ? and t.status in ('confirming', 'completed')`,
        [chainId, tokenAddress, recipientAddress, wallet, wallet],
      );
      const sums = new Map<string, bigint>();
      for (const { session_id: id, amount } of rows) sums.set(id, (sums.get(id) ?? 0n) + uintOf(amount));
      return sums;
    },

    /** Number of a session's transfers that were seen in a block. Claims do not count. */
    countOf(sessionId: string): Promise<number> {
      const seen = { sql: 'session_id = ? and sender is not null', bindings: [sessionId] };
      return countOf(handle, 'transactions', seen);
    },

    /** All transactions of this one's session, itself included, oldest first. */
    siblings: (id: string): Promise<PaymentTransaction[]> =>
      where('session_id = (select session_id from transactions where id = ?) order by created_at, id', [id]),

    /** Pending and confirming transactions of a chain, oldest first. */
    open: (chainId: number): Promise<PaymentTransaction[]> =>
      where("chain_id = ? and status in ('pending', 'confirming') order by created_at, id", [chainId]),

    async byLog(chainId: number, txHash: string, logIndex: number): Promise<PaymentTransaction | undefined> {
      const found = await where('chain_id = ? and tx_hash = ? and log_index = ?', [
        chainId,
        txHash,
        logIndex,
      ]);
      return found[0];
    },

    /** All records of one chain transaction, including claims and failed ones. */
    byHash: (chainId: number, txHash: string): Promise<PaymentTransaction[]> =>
      where('chain_id = ? and tx_hash = ? order by created_at, id', [chainId, txHash]),

    /**
     * The records of one chain transaction that may be this transfer: the one at its log index, and others of the same
     * payment that are in another block or in none.
     */
    recordsOf({ chainId, txHash, logIndex, blockHash, ...paid }: Transfer): Promise<PaymentTransaction[]> {
      return where(
        `chain_id = ? and tx_hash = ? and (log_index = ? or (
           (log_index is null or block_hash <> ?) and token_address = ? and sender = ? and recipient = ? and amount = ?
         )) order by created_at, id`,
        [
          ...[chainId, txHash, logIndex, blockHash],
          ...[paid.tokenAddress, paid.sender, paid.recipient, uintColumn(paid.amount)],
        ],
      );
    },

    /** Coins that a balance showed, as a part of which a transfer may have come. Those that can have are first. */
    foundCoins: ({
      chainId,
      tokenAddress,
      recipient,
      blockNumber,
    }: Transfer): Promise<PaymentTransaction[]> =>
      where(
        `recipient = ? and chain_id = ? and token_address = ? and status = 'completed' and balance_block >= ?
         order by case when block_number <= ? then 0 else 1 end, balance_block, created_at, id`,
        [recipient, chainId, tokenAddress, blockNumber, blockNumber],
      ),

    /** Moves of these transactions, by their ids, the earliest first. */
    async movesOf(
      transactions: readonly PaymentTransaction[],
    ): Promise<(id: string) => readonly PaymentMove[]> {
      const ids = transactions.filter(({ movedFrom }) => movedFrom !== null).map(({ id }) => id);
      if (ids.length === 0) return () => [];
      const rows = await select({ from: 'payment_moves', columns: ['*'] }).rows(
        handle,
        `where transaction_id in (${placeholders(ids.length)}) order by moved_at, since`,
        ids,
      );
      const byTransaction = Map.groupBy(rows.map(moveForm.recordOf), one => one.transactionId);
      return id => byTransaction.get(id) ?? [];
    },

    async recordMove(move: PaymentMove): Promise<void> {
      await handle('payment_moves').insert(moveForm.rowOf(move));
    },

    async insert(transaction: PaymentTransaction): Promise<void> {
      await handle('transactions').insert(transactionForm.rowOf(transaction));
    },

    /** Removes a claim whose payment has another record. */
    async remove(id: string): Promise<void> {
      await handle('transactions').where({ id }).delete();
    },

    /** Writes all columns that change after recording. Only for the settlement, which records the events. */
    async update(transaction: PaymentTransaction): Promise<void> {
      await handle('transactions').where({ id: transaction.id }).update(changeableForm.rowOf(transaction));
    },

    /** The same with its session and link. */
    async replace(transaction: PaymentTransaction): Promise<void> {
      await handle('transactions').where({ id: transaction.id }).update(transactionForm.rowOf(transaction));
    },
  };
}

/** Conditions of marks. */
const MARKS = {
  late: 'is_late',
  duplicate: 'is_duplicate',
  partial: 'is_partial',
  overpaid: "overpaid_amount is not null and overpaid_amount <> '010'",
} as const;

/** Condition for the transactions of any owner that match every filter. */
export function filteredTransactions(filters: TransactionFilters): Sql {
  return allOf([
    optionalCondition('status = ?', filters.status),
    filters.mark && { sql: MARKS[filters.mark], bindings: [] },
    optionalCondition('chain_id = ?', filters.chainId),
    optionalCondition('token_address = ?', filters.tokenAddress),
    optionalCondition('payment_link_id = ?', filters.paymentLinkId),
    optionalCondition('session_id = ?', filters.sessionId),
    optionalCondition(
      'id in (select transaction_id from payment_moves where session_id = ?)',
      filters.movedFrom,
    ),
    optionalCondition('created_at >= ?', filters.from),
    optionalCondition('created_at < ?', filters.to),
  ]);
}
