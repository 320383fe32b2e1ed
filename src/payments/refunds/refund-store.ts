import { type Binding, uintColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND, execute, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { Refund, RefundedMoney, RefundStatus } from '../model/refund.ts';
import { byLogIndex, type Transfer } from '../model/transfer.ts';
import type { RecordedBlock } from '../store/chain-records.ts';
import {
  allOf,
  countOf,
  type ListPage,
  type ListPageRequest,
  optionalCondition,
  ownedBy,
  ownedRow,
  paged,
} from '../store/list-query.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';

/** Filters of refunds. `from` (inclusive) and `to` (exclusive) are creation times in UTC milliseconds. */
export interface RefundFilters {
  readonly status?: RefundStatus | undefined;
  readonly sessionId?: string | undefined;
  readonly unmatchedTransferId?: string | undefined;
  readonly chainId?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Sums of refunds: of all that are not cancelled, and of the completed ones among them. */
export interface RefundSums {
  readonly reserved: bigint;
  readonly completed: bigint;
}

/** Condition that the chain may still complete a refund: its transaction may come back after a failure. */
export const IS_FOLLOWED = `tx_hash is not null and status in ('requires_action', 'pending')
  and (status = 'pending' or failure_reason in ('not_found', 'reorged'))`;

/** Time for which a chain is read beyond the end of a refund, so that searches for its transfer have come to it. */
const READ_ON_MS = 10 * 60_000;

/** A transaction in a block that refunds of an organization name. Hashes are lower case. */
export type RefundTransaction = Owner & Pick<Transfer, 'chainId' | 'txHash' | 'blockHash'>;

/** Refunds of all organizations. */
export type RefundStore = ReturnType<typeof refundStore>;

export function refundStore(handle: Handle) {
  const where = async (sql: string, bindings: readonly Binding[]): Promise<Refund[]> => {
    const rows = await select({ from: 'refunds', columns: ['*'] }).rows(handle, `where ${sql}`, bindings);
    return rows.map(refundForm.recordOf);
  };

  return {
    async insert(refund: Refund): Promise<void> {
      await handle('refunds').insert(refundForm.rowOf(refund));
    },

    async update(refund: Refund): Promise<void> {
      await handle('refunds').where({ id: refund.id }).update(refundForm.rowOf(refund));
    },

    async find(owner: Owner, id: string): Promise<Refund | undefined> {
      const { sql, bindings } = ownedRow(owner, id);
      return (await where(sql, bindings))[0];
    },

    /** Of any owner. @throws Error when there is none */
    async byId(id: string): Promise<Refund> {
      const [refund] = await where('id = ?', [id]);
      if (refund === undefined) throw new Error(`There is no refund ${id}.`);
      return refund;
    },

    /** Newest first. */
    list(owner: Owner, filters: RefundFilters, page: ListPageRequest): Promise<ListPage<Refund>> {
      const listing = {
        table: 'refunds',
        where: matching(owner, filters),
        order: 'created_at desc, id desc',
      } as const;
      return paged(handle, listing, page, refundForm.recordOf);
    },

    count: (owner: Owner, filters: RefundFilters): Promise<number> =>
      countOf(handle, 'refunds', matching(owner, filters)),

    /** Up to `limit` refunds, newest first. Continues after a given one, or begins with the newest. */
    export(owner: Owner, filters: RefundFilters, limit: number, after?: Refund): Promise<Refund[]> {
      const { sql, bindings } = allOf([
        matching(owner, filters),
        after && { sql: '(created_at, id) < (?, ?)', bindings: [after.createdAt, after.id] },
      ]);
      return where(`${sql} order by created_at desc, id desc limit ?`, [...bindings, limit]);
    },

    /** Sums of the refunds of a session, a transaction or an unmatched transfer. */
    async sums(of: Partial<RefundedMoney>): Promise<RefundSums> {
      const { sql, bindings } = allOf([
        optionalCondition('session_id = ?', of.sessionId ?? undefined),
        optionalCondition('transaction_id = ?', of.transactionId ?? undefined),
        optionalCondition('unmatched_transfer_id = ?', of.unmatchedTransferId ?? undefined),
      ]);
      const rows = await select({ from: 'refunds', columns: ['amount', 'status'] }).rows(
        handle,
        `where ${sql} and status <> 'cancelled'`,
        bindings,
      );
      const sumOf = (some: typeof rows) => some.reduce((sum, row) => sum + uintOf(row.amount), 0n);
      return { reserved: sumOf(rows), completed: sumOf(rows.filter(row => row.status === 'completed')) };
    },

    /** Gives refunds of an unmatched transfer the payment that it became. Returns their number. */
    async follow(
      transferId: string,
      { id, sessionId, organizationId, mode }: PaymentTransaction,
    ): Promise<number> {
      return handle('refunds')
        .where({ unmatched_transfer_id: transferId, organization_id: organizationId, mode })
        .update({ session_id: sessionId, transaction_id: id });
    },

    /** Those of these refunds of an organization that require action now. */
    async awaitingOf(owner: Owner, ids: readonly string[]): Promise<Refund[]> {
      if (ids.length === 0) return [];
      const { sql, bindings } = ownedBy(owner);
      return where(`${sql} and status = 'requires_action' and id in (${placeholders(ids.length)})`, [
        ...bindings,
        ...ids,
      ]);
    },

    /**
     * True when a refund of an organization has this transfer. One that names the transaction, and whose transfer was not
     * seen in this block yet, has each transfer that sends what it asks for.
     */
    async hasTransfer(owner: Owner, transfer: Transfer): Promise<boolean> {
      const { chainId, txHash, blockHash, logIndex, tokenAddress, recipient, amount } = transfer;
      const { sql, bindings } = ownedBy(owner);
      const rows = await select({ from: 'refunds', columns: ['id'] }).rows(
        handle,
        `where ${sql} and chain_id = ? and tx_hash = ? and (status = 'completed' or (${IS_FOLLOWED}))
           and case when block_hash = ? then log_index = ?
                    else token_address = ? and destination = ? and amount = ? end limit 1`,
        [...bindings, chainId, txHash, blockHash, logIndex, tokenAddress, recipient, uintColumn(amount)],
      );
      return rows.length > 0;
    },

    /** Blocks from this number on with completed refunds. */
    async completedBlocks(chainId: number, blockNumber: number): Promise<RecordedBlock[]> {
      const rows = await select({
        from: 'refunds',
        isDistinct: true,
        columns: ['block_number', 'block_hash'],
      }).rows(handle, "where chain_id = ? and status = 'completed' and block_number >= ?", [
        chainId,
        blockNumber,
      ]);
      return rows.map(row => ({ blockNumber: row.block_number, blockHash: row.block_hash }));
    },

    /** Completed refunds in these blocks. */
    completedIn: (chainId: number, blocks: readonly RecordedBlock[], limit: number): Promise<Refund[]> =>
      where(
        `chain_id = ? and status = 'completed' and block_number in (${placeholders(blocks.length)})
           and block_hash in (${placeholders(blocks.length)}) order by id limit ${BOUND}`,
        [chainId, ...blocks.map(one => one.blockNumber), ...blocks.map(one => one.blockHash), limit],
      ),

    /** Log indexes of a transaction in a block whose transfers complete other refunds of the organization. */
    async taken(at: RefundTransaction, id?: string): Promise<Set<number>> {
      const { sql, bindings } = inTransaction(at);
      const rows = await select({ from: 'refunds', columns: ['log_index'] }).rows(
        handle,
        `where ${sql} and block_hash = ? and id <> ?`,
        [...bindings, at.blockHash, id ?? ''],
      );
      return new Set(rows.flatMap(row => row.log_index ?? []));
    },

    /** Refunds whose transfer was seen in this transaction, but in another block, in the order of their logs. */
    async seenElsewhere(at: RefundTransaction): Promise<Refund[]> {
      const { sql, bindings } = inTransaction(at);
      const rows = await where(`${sql} and block_hash <> ?`, [...bindings, at.blockHash]);
      const orderOf = ({ logIndex }: Refund) => logIndex ?? Number.POSITIVE_INFINITY;
      return rows.sort((a, b) => byLogIndex(orderOf(a), orderOf(b)));
    },

    /** Takes a log index from a refund that had it in another block. The next look moves it. */
    async clearIndex(at: RefundTransaction, logIndex: number): Promise<void> {
      const { sql, bindings } = inTransaction(at);
      await execute(
        handle,
        `update refunds set log_index = null where ${sql} and block_hash <> ? and log_index = ?`,
        [...bindings, at.blockHash, logIndex],
      );
    },

    /**
     * Refunds past their time whose transfer was not seen, the oldest first. Those on watched chains wait until the chain
     * was read beyond their time (Decision 486).
     */
    async due(now: number, watched: readonly number[], limit: number): Promise<Refund[]> {
      // PostgreSQL takes no empty list, and no chain has the id 0.
      const chains = [0, ...watched];
      const read = `select 1 from chain_cursors c where c.chain_id = refunds.chain_id
        and c.head_time >= refunds.expires_at + ? and c.scanned_at >= refunds.expires_at + ?`;
      return where(
        `status in ('requires_action', 'pending') and expires_at <= ? and block_number is null
           and (chain_id not in (${placeholders(chains.length)}) or exists (${read}))
         order by expires_at limit ${BOUND}`,
        [now, ...chains, READ_ON_MS, READ_ON_MS, limit],
      );
    },
  };
}

/** Condition for refunds of an organization whose transfer was seen in a transaction, in any block. */
function inTransaction({ chainId, txHash, ...owner }: RefundTransaction): Sql {
  const isSeen =
    "chain_id = ? and tx_hash = ? and status in ('pending', 'completed') and block_hash is not null";
  return allOf([ownedBy(owner), { sql: isSeen, bindings: [chainId, txHash] }]);
}

function matching(owner: Owner, filters: RefundFilters): Sql {
  return allOf([
    ownedBy(owner),
    optionalCondition('status = ?', filters.status),
    optionalCondition('session_id = ?', filters.sessionId),
    optionalCondition('unmatched_transfer_id = ?', filters.unmatchedTransferId),
    optionalCondition('chain_id = ?', filters.chainId),
    optionalCondition('created_at >= ?', filters.from),
    optionalCondition('created_at < ?', filters.to),
  ]);
}

/** A refund as a row of its table. */
export const refundForm = recordForm<Refund>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  status: 'plain',
  sessionId: 'plain',
  transactionId: 'plain',
  unmatchedTransferId: 'plain',
  chainId: 'plain',
  tokenAddress: 'plain',
  amount: 'uint256',
  recipient: 'plain',
  destination: 'plain',
  destinationSource: 'plain',
  txHash: 'plain',
  logIndex: 'plain',
  blockNumber: 'plain',
  blockHash: 'plain',
  confirmations: 'plain',
  requiredConfirmations: 'plain',
  failureReason: 'plain',
  reason: 'plain',
  createdBy: 'plain',
  completedBy: 'plain',
  cancelledBy: 'plain',
  cancelledReason: 'plain',
  afterBlock: 'plain',
  searchedSince: 'plain',
  expiresAt: 'plain',
  createdAt: 'plain',
  updatedAt: 'plain',
  completedAt: 'plain',
  cancelledAt: 'plain',
});
