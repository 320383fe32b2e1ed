import { type Binding, booleanOf, uintColumn, uintOf, uintOrNull } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction, TransactionStatus } from '../model/payment-transaction.ts';
import type { Transfer } from '../model/transfer.ts';
import type { SessionRow, TransactionRow } from '../tables/session-tables.ts';
import { allOf, countOf, given, type ListPage, oneOf, ownedBy, type Page, paged } from './list-query.ts';

/** Filters of transactions. `from` (inclusive) and `to` (exclusive) are creation times in UTC milliseconds. */
export interface TransactionFilters {
  readonly status?: TransactionStatus | undefined;
  readonly chainId?: number | undefined;
  readonly paymentLinkId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

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

/** Payments that were matched with a session, or claimed for one. */
export type TransactionStore = ReturnType<typeof transactionStore>;

export function transactionStore(handle: Handle) {
  const where = async (sql: string, bindings: readonly Binding[]): Promise<PaymentTransaction[]> => {
    const rows = await rowsOf<TransactionRow>(handle, `select * from transactions where ${sql}`, bindings);
    return rows.map(transactionOf);
  };

  return {
    async find(owner: Owner, id: string): Promise<PaymentTransaction | undefined> {
      const { sql, bindings } = oneOf(owner, id);
      return (await where(sql, bindings))[0];
    },

    /** Transactions of any owner by id, each with the payer's wallet. For the watcher. */
    async claimed(ids: readonly string[]): Promise<ClaimedTransaction[]> {
      const rows = await rowsOf<TransactionRow & Pick<SessionRow, 'payer_address'>>(
        handle,
        `select transactions.*, payer_address
         from transactions join checkout_sessions on checkout_sessions.id = session_id
         where transactions.id in (${placeholders(ids.length)})`,
        ids,
      );
      return rows.map(row => ({ claim: transactionOf(row), payer: row.payer_address }));
    },

    /** Of any owner. For the watcher. */
    findById: async (id: string): Promise<PaymentTransaction | undefined> => (await where('id = ?', [id]))[0],

    /** Newest first. */
    list(owner: Owner, filters: TransactionFilters, page: Page): Promise<ListPage<PaymentTransaction>> {
      const listing = {
        table: 'transactions',
        where: matching(owner, filters),
        order: NEWEST_FIRST,
      } as const;
      return paged(handle, listing, page, transactionOf);
    },

    count: (owner: Owner, filters: TransactionFilters): Promise<number> =>
      countOf(handle, 'transactions', matching(owner, filters)),

    /** Up to `limit` transactions, newest first. Continues after a given one, or begins with the newest. */
    export(
      owner: Owner,
      filters: TransactionFilters,
      limit: number,
      after?: PaymentTransaction,
    ): Promise<PaymentTransaction[]> {
      const { sql, bindings } = allOf([matching(owner, filters), after && before(after)]);
      return where(`${sql} order by ${NEWEST_FIRST} limit ?`, [...bindings, limit]);
    },

    /** Oldest first. */
    ofSession: (sessionId: string): Promise<PaymentTransaction[]> =>
      where('session_id = ? order by created_at, id', [sessionId]),

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

    /** Pending transactions of a chain, oldest first. */
    pending: (chainId: number): Promise<PaymentTransaction[]> =>
      where(`chain_id = ? and ${IS_PENDING} order by created_at, id`, [chainId]),

    /** The same with few columns, because there may be many. */
    async claims(chainId: number): Promise<WaitingClaim[]> {
      const rows = await rowsOf<Pick<TransactionRow, 'id' | 'session_id' | 'created_at'>>(
        handle,
        `select id, session_id, created_at from transactions
         where chain_id = ? and ${IS_PENDING} order by created_at, id`,
        [chainId],
      );
      return rows.map(row => ({ id: row.id, sessionId: row.session_id, createdAt: row.created_at }));
    },

    /** Completed transactions in this block or a later one. */
    completedSince: (chainId: number, blockNumber: number): Promise<PaymentTransaction[]> =>
      where("chain_id = ? and status = 'completed' and block_number >= ?", [chainId, blockNumber]),

    async byPlace(
      chainId: number,
      txHash: string,
      logIndex: number,
    ): Promise<PaymentTransaction | undefined> {
      const placed = await where('chain_id = ? and tx_hash = ? and log_index = ?', [
        chainId,
        txHash,
        logIndex,
      ]);
      return placed[0];
    },

    /** All records of one chain transaction, including claims and failed ones. */
    byHash: (chainId: number, txHash: string): Promise<PaymentTransaction[]> =>
      where('chain_id = ? and tx_hash = ? order by created_at, id', [chainId, txHash]),

    /** All records of these chain transactions with few columns, because there may be many. */
    async recorded(chainId: number, txHashes: readonly string[]): Promise<RecordedPayment[]> {
      const rows = await rowsOf<RecordedRow>(
        handle,
        `select tx_hash, log_index, block_hash, token_address, sender, recipient, amount from transactions
         where chain_id = ? and tx_hash in (${placeholders(txHashes.length)})`,
        [chainId, ...txHashes],
      );
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

    /** The sessions for which a chain transaction was claimed. */
    async claimants(chainId: number, txHash: string): Promise<ReadonlySet<string>> {
      const rows = await rowsOf<Pick<TransactionRow, 'session_id'>>(
        handle,
        'select session_id from transactions where chain_id = ? and tx_hash = ? and sender is null',
        [chainId, txHash],
      );
      return new Set(rows.map(row => row.session_id));
    },

    async insert(transaction: PaymentTransaction): Promise<void> {
      await handle('transactions').insert(transactionValues(transaction));
    },

    /** Writes all columns that change after recording. Only for the settlement, which records the events. */
    async update(transaction: PaymentTransaction): Promise<void> {
      await handle('transactions').where({ id: transaction.id }).update(changeableValues(transaction));
    },
  };
}

type RecordedRow = Pick<
  TransactionRow,
  'tx_hash' | 'log_index' | 'block_hash' | 'token_address' | 'sender' | 'recipient' | 'amount'
>;

/** SQLite uses the partial index of open payments only with the literal condition of the index. */
const IS_PENDING = "status in ('pending', 'confirming') and status = 'pending'";
const NEWEST_FIRST = 'created_at desc, id desc';

function before({ createdAt, id }: PaymentTransaction): Sql {
  return { sql: '(created_at, id) < (?, ?)', bindings: [createdAt, id] };
}

function matching(owner: Owner, filters: TransactionFilters): Sql {
  return allOf([
    ownedBy(owner),
    given('status = ?', filters.status),
    given('chain_id = ?', filters.chainId),
    given('payment_link_id = ?', filters.paymentLinkId),
    given('session_id = ?', filters.sessionId),
    given('created_at >= ?', filters.from),
    given('created_at < ?', filters.to),
  ]);
}

/** Columns of a transaction that change after it was recorded. */
function changeableValues(transaction: PaymentTransaction) {
  const { overpaidAmount } = transaction;
  return {
    status: transaction.status,
    amount: uintColumn(transaction.amount),
    sender: transaction.sender,
    tx_hash: transaction.txHash,
    log_index: transaction.logIndex,
    block_number: transaction.blockNumber,
    block_hash: transaction.blockHash,
    block_time: transaction.blockTime,
    confirmations: transaction.confirmations,
    matched_by: transaction.matchedBy,
    failure_reason: transaction.failureReason,
    is_late: transaction.isLate,
    is_duplicate: transaction.isDuplicate,
    is_partial: transaction.isPartial,
    overpaid_amount: overpaidAmount === null ? null : uintColumn(overpaidAmount),
    nonce: transaction.nonce,
    confirmed_at: transaction.confirmedAt,
    completed_at: transaction.completedAt,
  } satisfies Partial<TransactionRow>;
}

/** All columns of a transaction. */
function transactionValues(transaction: PaymentTransaction) {
  return {
    id: transaction.id,
    organization_id: transaction.organizationId,
    mode: transaction.mode,
    payment_link_id: transaction.paymentLinkId,
    session_id: transaction.sessionId,
    chain_id: transaction.chainId,
    token_address: transaction.tokenAddress,
    recipient: transaction.recipient,
    required_confirmations: transaction.requiredConfirmations,
    created_at: transaction.createdAt,
    ...changeableValues(transaction),
  } satisfies TransactionRow;
}

function transactionOf(row: TransactionRow): PaymentTransaction {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    status: row.status,
    paymentLinkId: row.payment_link_id,
    sessionId: row.session_id,
    chainId: row.chain_id,
    tokenAddress: row.token_address,
    amount: uintOf(row.amount),
    sender: row.sender,
    recipient: row.recipient,
    txHash: row.tx_hash,
    logIndex: row.log_index,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    blockTime: row.block_time,
    confirmations: row.confirmations,
    requiredConfirmations: row.required_confirmations,
    matchedBy: row.matched_by,
    failureReason: row.failure_reason,
    isLate: booleanOf(row.is_late),
    isDuplicate: booleanOf(row.is_duplicate),
    isPartial: booleanOf(row.is_partial),
    overpaidAmount: uintOrNull(row.overpaid_amount),
    nonce: row.nonce,
    createdAt: row.created_at,
    confirmedAt: row.confirmed_at,
    completedAt: row.completed_at,
  };
}
