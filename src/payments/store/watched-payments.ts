import { uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import { select } from '../tables/select.ts';
import { type DueAtHead, IS_NOT_SET_ASIDE, type RecordedBlock } from './chain-records.ts';
import { transactionForm } from './transaction-rows.ts';

/** The part of a claim that decides when it is looked up. */
export type WaitingClaim = Pick<PaymentTransaction, 'id' | 'sessionId' | 'createdAt'>;

/** A transaction, and the wallet of its session's payer; null when the session has none. */
export interface ClaimedTransaction {
  readonly claim: PaymentTransaction;
  readonly payer: string | null;
}

/** The facts of a recorded payment that identify its transfer. */
export type RecordedPayment = Pick<
  PaymentTransaction,
  'logIndex' | 'blockHash' | 'tokenAddress' | 'sender' | 'recipient' | 'amount'
> & { readonly txHash: string };

/** A payment, and the block that it was seen in. */
export type PlacedPayment = Pick<PaymentTransaction, 'id' | 'blockHash'>;

/** Payments of all owners, as the watcher of a chain reads them. */
export function watchedPayments(handle: Handle) {
  return {
    /** Blocks with payments in confirmation, without those that are set aside until later than `now`. */
    async confirmingBlocks(chainId: number, now: number): Promise<RecordedBlock[]> {
      const rows = await select({
        from: 'transactions t',
        isDistinct: true,
        columns: ['block_number', 'block_hash'],
      }).rows(handle, `where chain_id = ? and status = 'confirming' and ${IS_NOT_SET_ASIDE}`, [chainId, now]);
      return rows.map(row => ({ blockNumber: row.block_number, blockHash: row.block_hash }));
    },

    /** Payments in confirmation in these blocks. */
    async confirmingIn(
      chainId: number,
      blockHashes: readonly string[],
      limit: number,
    ): Promise<PlacedPayment[]> {
      const rows = await select({ from: 'transactions', columns: ['id', 'block_hash'] }).rows(
        handle,
        `where chain_id = ? and status = 'confirming'
           and block_hash in (${placeholders(blockHashes.length)}) limit ${BOUND}`,
        [chainId, ...blockHashes, limit],
      );
      return rows.map(row => ({ id: row.id, blockHash: row.block_hash }));
    },

    /**
     * Payments in confirmation that have enough confirmations at this head, or more than are stored. The oldest of each
     * organization come first, then the second oldest of each, and so on.
     */
    async due({ chainId, headBlock, now, limit }: DueAtHead): Promise<PaymentTransaction[]> {
      const rows = await select({ from: 'transactions', columns: ['transactions.*'] }).rows(
        handle,
        `join (
           select id, row_number() over (partition by organization_id, mode order by block_number, log_index) as turn
           from transactions t
           where chain_id = ? and status = 'confirming' and block_number <= ?
             and (block_number + required_confirmations <= ? or confirmations < ? - block_number)
             and ${IS_NOT_SET_ASIDE}
         ) due on due.id = transactions.id
         order by turn, transactions.block_number, transactions.log_index limit ${BOUND}`,
        [chainId, headBlock, headBlock, headBlock, now, limit],
      );
      return rows.map(transactionForm.recordOf);
    },

    /**
     * Pending transactions of a chain with few columns, because there may be many. Oldest first. SQLite uses the partial
     * index of open payments only with its literal condition.
     */
    async claims(chainId: number): Promise<WaitingClaim[]> {
      const rows = await select({ from: 'transactions', columns: ['id', 'session_id', 'created_at'] }).rows(
        handle,
        `where chain_id = ? and status in ('pending', 'confirming') and status = 'pending' order by created_at, id`,
        [chainId],
      );
      return rows.map(row => ({ id: row.id, sessionId: row.session_id, createdAt: row.created_at }));
    },

    /** Claims in the pool whose payer is one of these senders. Another transaction may replace theirs. */
    async replaceable(chainId: number, senders: readonly string[]): Promise<ClaimedTransaction[]> {
      const rows = await CLAIM.rows(
        handle,
        `where t.chain_id = ? and t.status in ('pending', 'confirming') and t.status = 'pending' and nonce is not null
           and signed_address in (${placeholders(senders.length)})
         order by t.created_at, t.id`,
        [chainId, ...senders],
      );
      return rows.map(row => ({ claim: transactionForm.recordOf(row), payer: row.signed_address }));
    },

    /** Completed payments in these blocks. */
    async completedIn(chainId: number, blocks: readonly RecordedBlock[]): Promise<PaymentTransaction[]> {
      const rows = await select({ from: 'transactions', columns: ['*'] }).rows(
        handle,
        `where chain_id = ? and status = 'completed'
           and block_number in (${placeholders(blocks.length)}) and block_hash in (${placeholders(blocks.length)})`,
        [chainId, ...blocks.map(one => one.blockNumber), ...blocks.map(one => one.blockHash)],
      );
      return rows.map(transactionForm.recordOf);
    },

    /**
     * Payments that were completed since a time, in UTC milliseconds, without a look at their block. The newest first, or
     * those that follow `after` in this order.
     */
    async unproven(
      chainId: number,
      { since, after, limit }: { since: number; after: PaymentTransaction | undefined; limit: number },
    ): Promise<PaymentTransaction[]> {
      const rows = await select({ from: 'transactions', columns: ['*'] }).rows(
        handle,
        `where chain_id = ? and status = 'completed' and proven is null and completed_at > ? and block_hash is not null
           and balance_block is null
           and (completed_at, id) < (?, ?)
         order by completed_at desc, id desc limit ${BOUND}`,
        [chainId, since, after?.completedAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', limit],
      );
      return rows.map(transactionForm.recordOf);
    },

    /** Transactions by id, each with the payer's wallet. */
    async claimed(ids: readonly string[]): Promise<ClaimedTransaction[]> {
      const rows = await CLAIM.rows(handle, `where t.id in (${placeholders(ids.length)})`, ids);
      return rows.map(row => ({ claim: transactionForm.recordOf(row), payer: row.signed_address }));
    },

    /** All records of these chain transactions with few columns, because there may be many. */
    async recorded(chainId: number, txHashes: readonly string[]): Promise<RecordedPayment[]> {
      const rows = await select({
        from: 'transactions',
        columns: ['tx_hash', 'log_index', 'block_hash', 'token_address', 'sender', 'recipient', 'amount'],
      }).rows(handle, `where chain_id = ? and tx_hash in (${placeholders(txHashes.length)})`, [
        chainId,
        ...txHashes,
      ]);
      return rows.map(row => ({
        txHash: row.tx_hash ?? '',
        logIndex: row.log_index,
        blockHash: row.block_hash,
        tokenAddress: row.token_address,
        sender: row.sender,
        recipient: row.recipient,
        amount: uintOf(row.amount),
      }));
    },

    /** The sessions for which a chain transaction was claimed. */
    async claimants(chainId: number, txHash: string): Promise<ReadonlySet<string>> {
      const rows = await select({ from: 'transactions', columns: ['session_id'] }).rows(
        handle,
        'where chain_id = ? and tx_hash = ? and sender is null',
        [chainId, txHash],
      );
      return new Set(rows.map(row => row.session_id));
    },
  };
}

/** Payments with the payer whose wallet was to send them. */
const CLAIM = select({
  from: 'transactions t',
  join: ['checkout_sessions s on s.id = t.session_id'],
  columns: ['t.*', 's.signed_address'],
});
