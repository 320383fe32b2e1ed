import { type Binding, exactInteger } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction, TransactionStatus } from '../model/payment-transaction.ts';
import { allOf, countOf, type ListPage, ownedBy, type Page, paged } from './paging.ts';
import { insertRow, updateRows } from './rows.ts';
import {
  changeableValues,
  type TransactionRow,
  transactionOf,
  transactionValues,
} from './transaction-rows.ts';

/** What transactions are narrowed to. Times are UTC milliseconds of recording: from this one, to before that one. */
export interface TransactionFilters {
  readonly status?: TransactionStatus | undefined;
  readonly chainId?: number | undefined;
  readonly paymentLinkId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The payments that were matched with a session, or claimed for one. */
export type TransactionStore = ReturnType<typeof transactionStore>;

export function transactionStore(handle: Handle) {
  const where = async (sql: string, bindings: readonly Binding[]): Promise<PaymentTransaction[]> => {
    const rows = await rowsOf<TransactionRow>(handle, `select * from transactions where ${sql}`, bindings);
    return rows.map(transactionOf);
  };

  return {
    async find(owner: Owner, id: string): Promise<PaymentTransaction | undefined> {
      const { sql, bindings } = allOf([ownedBy(owner), { sql: 'id = ?', bindings: [id] }]);
      return (await where(sql, bindings))[0];
    },

    /** Whoever owns it: for the watcher. */
    findById: async (id: string): Promise<PaymentTransaction | undefined> => (await where('id = ?', [id]))[0],

    /** The newest first. */
    list(owner: Owner, filters: TransactionFilters, page: Page): Promise<ListPage<PaymentTransaction>> {
      const listing = { table: 'transactions', where: matching(owner, filters), order: NEWEST_FIRST };
      return paged(handle, listing, page, transactionOf);
    },

    /** How many match. */
    count: (owner: Owner, filters: TransactionFilters): Promise<number> =>
      countOf(handle, 'transactions', matching(owner, filters)),

    /** At most so many, the newest first; those that follow a transaction in this order, or from the first one on. */
    export(
      owner: Owner,
      filters: TransactionFilters,
      limit: number,
      after?: PaymentTransaction,
    ): Promise<PaymentTransaction[]> {
      const { sql, bindings } = allOf([matching(owner, filters), after && before(after)]);
      return where(`${sql} order by ${NEWEST_FIRST} limit ?`, [...bindings, limit]);
    },

    /** The oldest first. */
    ofSession: (sessionId: string): Promise<PaymentTransaction[]> =>
      where('session_id = ? order by created_at, id', [sessionId]),

    /** How many transfers were recorded for a session; what was only claimed is none. */
    async countOf(sessionId: string): Promise<number> {
      const [row] = await rowsOf<{ total: unknown }>(
        handle,
        'select count(*) as total from transactions where session_id = ? and sender is not null',
        [sessionId],
      );
      return exactInteger(row?.total);
    },

    /** All of the session that this transaction is of, itself included; the oldest first. */
    siblings: (id: string): Promise<PaymentTransaction[]> =>
      where('session_id = (select session_id from transactions where id = ?) order by created_at, id', [id]),

    /** Of a chain, what is neither completed nor failed; the oldest first. */
    open: (chainId: number): Promise<PaymentTransaction[]> =>
      where("chain_id = ? and status in ('pending', 'confirming') order by created_at, id", [chainId]),

    /** Completed ones whose block has this number or a higher one. */
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

    /** Whatever was recorded of one transaction of a chain: claims and failed ones too. */
    byHash: (chainId: number, txHash: string): Promise<PaymentTransaction[]> =>
      where('chain_id = ? and tx_hash = ? order by created_at, id', [chainId, txHash]),

    insert: (transaction: PaymentTransaction): Promise<void> =>
      insertRow(handle, 'transactions', transactionValues(transaction)),

    /** Writes all that changes after recording; for the settlement only, which tells of it. */
    async update(transaction: PaymentTransaction): Promise<void> {
      await updateRows(handle, 'transactions', changeableValues(transaction), {
        sql: 'id = ?',
        bindings: [transaction.id],
      });
    },
  };
}

const NEWEST_FIRST = 'created_at desc, id desc';

function before({ createdAt, id }: PaymentTransaction): Sql {
  return { sql: '(created_at, id) < (?, ?)', bindings: [createdAt, id] };
}

function matching(owner: Owner, filters: TransactionFilters): Sql {
  const when = (sql: string, value: Binding | undefined) =>
    value === undefined ? undefined : { sql, bindings: [value] };
  return allOf([
    ownedBy(owner),
    when('status = ?', filters.status),
    when('chain_id = ?', filters.chainId),
    when('payment_link_id = ?', filters.paymentLinkId),
    when('session_id = ?', filters.sessionId),
    when('created_at >= ?', filters.from),
    when('created_at < ?', filters.to),
  ]);
}
