import type { Binding } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND, type Sql } from '../../db/query.ts';
import { insertRows, placeholders } from '../../db/rows.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import type { NewTransfer, OwnedTransfer, TransferStatus, UnmatchedTransfer } from '../model/transfer.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';
import { type DueAtHead, IS_NOT_SET_ASIDE, type RecordedBlock } from './chain-records.ts';
import { allOf, optionalCondition, ownedRow } from './list-query.ts';

/** Filters of unmatched transfers. */
export interface TransferFilters {
  readonly status?: TransferStatus | undefined;
  readonly chainId?: number | undefined;
}

type LogPosition = Pick<UnmatchedTransfer, 'txHash' | 'logIndex'>;
/** A recorded transfer, and its block. */
export type PlacedTransfer = Pick<UnmatchedTransfer, 'id' | 'blockHash'>;
/** Chain and recipient of a transfer that is not recorded any more. */
type RemovedTransfer = Pick<UnmatchedTransfer, 'chainId' | 'recipient'>;
/** The state of a recorded transfer. */
type KeptTransfer = LogPosition & Pick<UnmatchedTransfer, 'blockHash' | 'confirmedAt'>;

/** Transfers that match no session. Each belongs to the owner of its recipient. */
export function transferStore(handle: Handle) {
  const where = async (sql: string, bindings: readonly Binding[]): Promise<UnmatchedTransfer[]> => {
    const rows = await select({ from: 'unmatched_transfers', columns: ['*'] }).rows(
      handle,
      `where ${sql}`,
      bindings,
    );
    return rows.map(transferForm.recordOf);
  };

  return {
    /** Records a transfer. An unassigned one that moved to another block must be confirmed again. `now` is UTC ms. */
    upsert: (owner: Owner, transfer: NewTransfer, now: number): Promise<void> =>
      upsertAll(handle, [{ owner, transfer }], now),

    /** The same for many transfers, in one statement. */
    upsertAll: (owned: readonly OwnedTransfer[], now: number): Promise<void> => upsertAll(handle, owned, now),

    /** Undefined for one that is not listed. */
    async find(owner: Owner, id: string): Promise<UnmatchedTransfer | undefined> {
      const { sql, bindings } = ownedRow(owner, id);
      return (await where(`${sql} and (${IS_LISTED})`, bindings))[0];
    },

    /** Blocks with transfers that are not confirmed, without those that are set aside until later than `now`. */
    async unconfirmedBlocks(chainId: number, now: number): Promise<RecordedBlock[]> {
      const rows = await select({
        from: 'unmatched_transfers t',
        isDistinct: true,
        columns: ['block_number', 'block_hash'],
      }).rows(handle, `where chain_id = ? and confirmed_at is null and ${IS_NOT_SET_ASIDE}`, [chainId, now]);
      return rows.map(row => ({ blockNumber: row.block_number, blockHash: row.block_hash }));
    },

    /** Unconfirmed transfers in these blocks. */
    async unconfirmedIn(
      chainId: number,
      blockHashes: readonly string[],
      limit: number,
    ): Promise<PlacedTransfer[]> {
      const rows = await select({ from: 'unmatched_transfers', columns: ['id', 'block_hash'] }).rows(
        handle,
        `where chain_id = ? and confirmed_at is null
           and block_hash in (${placeholders(blockHashes.length)}) limit ${BOUND}`,
        [chainId, ...blockHashes, limit],
      );
      return rows.map(row => ({ id: row.id, blockHash: row.block_hash }));
    },

    /**
     * Unconfirmed transfers up to a block. The oldest of each organization come first, then the second oldest of each,
     * and so on.
     */
    async unconfirmed({ chainId, headBlock, now, limit }: DueAtHead): Promise<UnmatchedTransfer[]> {
      const rows = await select({ from: 'unmatched_transfers', columns: ['unmatched_transfers.*'] }).rows(
        handle,
        `join (
           select id, row_number() over (partition by organization_id, mode order by block_number, id) as turn
           from unmatched_transfers t
           where chain_id = ? and confirmed_at is null and block_number <= ? and ${IS_NOT_SET_ASIDE}
         ) due on due.id = unmatched_transfers.id
         order by turn, unmatched_transfers.block_number, unmatched_transfers.id limit ${BOUND}`,
        [chainId, headBlock, now, limit],
      );
      return rows.map(transferForm.recordOf);
    },

    /** Unassigned transfers in these blocks, confirmed or not. */
    openIn(chainId: number, blocks: readonly RecordedBlock[]): Promise<UnmatchedTransfer[]> {
      return where(
        `chain_id = ? and assigned_at is null and block_number in (${placeholders(blocks.length)})
           and block_hash in (${placeholders(blocks.length)})`,
        [chainId, ...blocks.map(one => one.blockNumber), ...blocks.map(one => one.blockHash)],
      );
    },

    /** The records of these transfers, in any block, that are not assigned. It may return others of a transaction too. */
    async keptOf(chainId: number, transfers: readonly LogPosition[]): Promise<KeptTransfer[]> {
      if (transfers.length === 0) return [];
      const hashes = [...new Set(transfers.map(({ txHash }) => txHash))];
      const indexes = [...new Set(transfers.map(({ logIndex }) => logIndex))];
      const rows = await select({
        from: 'unmatched_transfers',
        columns: ['tx_hash', 'log_index', 'block_hash', 'confirmed_at'],
      }).rows(
        handle,
        `where chain_id = ? and tx_hash in (${placeholders(hashes.length)})
           and log_index in (${placeholders(indexes.length)}) and assigned_at is null`,
        [chainId, ...hashes, ...indexes],
      );
      return rows.map(row => ({
        txHash: row.tx_hash,
        logIndex: row.log_index,
        blockHash: row.block_hash,
        confirmedAt: row.confirmed_at,
      }));
    },

    /**
     * Confirms transfers, each with the session that it was probably meant for, and returns their ids. One that moved to
     * another block stays unconfirmed.
     */
    async confirm(
      transfers: readonly (PlacedTransfer & Pick<UnmatchedTransfer, 'suggestedSessionId'>)[],
      now: number,
    ): Promise<string[]> {
      const confirmed: string[] = [];
      const alike = Map.groupBy(transfers, one => `${one.suggestedSessionId} ${one.blockHash}`);
      for (const some of alike.values()) {
        const ids = some.map(({ id }) => id);
        const [{ blockHash, suggestedSessionId } = { blockHash: '', suggestedSessionId: null }] = some;
        const rows = await handle('unmatched_transfers')
          .whereIn('id', ids)
          .where({ block_hash: blockHash })
          .whereNull('confirmed_at')
          .update({ confirmed_at: now, suggested_session_id: suggestedSessionId })
          .returning('id');
        confirmed.push(...rows.map(({ id }) => id));
      }
      return confirmed;
    },

    /** Deletes transfers that the chain dropped, and returns them. Assigned ones stay, and those that moved to another block. */
    async remove(transfers: readonly PlacedTransfer[]): Promise<RemovedTransfer[]> {
      const removed: RemovedTransfer[] = [];
      for (const [blockHash, some] of Map.groupBy(transfers, one => one.blockHash)) {
        const ids = some.map(({ id }) => id);
        const deleted = await select({
          from: 'unmatched_transfers',
          columns: ['chain_id', 'recipient'],
        }).changed(
          handle,
          `delete from unmatched_transfers
           where id in (${placeholders(ids.length)}) and block_hash = ? and assigned_at is null`,
          [...ids, blockHash],
        );
        for (const row of deleted) removed.push({ chainId: row.chain_id, recipient: row.recipient });
      }
      return removed;
    },
  };
}

const IS_SET_ASIDE = `confirmed_at is null and exists (
  select 1 from set_aside_transactions s
  where s.chain_id = unmatched_transfers.chain_id and s.tx_hash = unmatched_transfers.tx_hash
)`;
const IS_LISTED = `confirmed_at is not null or (${IS_SET_ASIDE})`;

/** Condition that a transfer needs a decision. */
export const IS_OPEN =
  'confirmed_at is not null and assigned_at is null and dismissed_at is null and amount_refunded <> amount';

/** Conditions of listed transfers by their state. */
const CONDITIONS = {
  open: IS_OPEN,
  assigned: 'assigned_at is not null',
  dismissed: 'confirmed_at is not null and dismissed_at is not null and amount_refunded <> amount',
  refunded: 'confirmed_at is not null and assigned_at is null and amount_refunded = amount',
  set_aside: IS_SET_ASIDE,
} as const satisfies Record<TransferStatus, string>;

/** Condition for listed transfers of any owner that match every filter: confirmed ones, and those that are set aside. */
export function filteredTransfers({ status, chainId }: TransferFilters): Sql {
  return allOf([
    { sql: status === undefined ? IS_LISTED : CONDITIONS[status], bindings: [] },
    optionalCondition('chain_id = ?', chainId),
  ]);
}

/** Replaces what may differ when a transfer is seen in another block. */
const SEEN_AGAIN = `block_number = excluded.block_number, block_hash = excluded.block_hash,
  block_time = excluded.block_time, token_address = excluded.token_address, sender = excluded.sender,
  recipient = excluded.recipient, amount = excluded.amount, suggested_session_id = excluded.suggested_session_id,
  confirmed_at = excluded.confirmed_at`;

async function upsertAll(handle: Handle, owned: readonly OwnedTransfer[], now: number): Promise<void> {
  const rows = owned.map(({ owner, transfer }) => transferValues(owner, transfer, now));
  const [first] = rows;
  if (first === undefined) return;
  const into = {
    table: 'unmatched_transfers',
    columns: Object.keys(first),
    suffix: `on conflict (chain_id, tx_hash, log_index, organization_id, mode) do update
      set ${SEEN_AGAIN}
      where unmatched_transfers.block_hash <> excluded.block_hash and unmatched_transfers.assigned_at is null`,
  };
  await insertRows(
    handle,
    into,
    rows.map(row => Object.values(row)),
  );
}

function transferValues(owner: Owner, transfer: NewTransfer, now: number) {
  return transferForm.rowOf({
    ...transfer,
    id: newId('utr'),
    organizationId: owner.organizationId,
    mode: owner.mode,
    confirmedAt: null,
    suggestedSessionId: transfer.suggestedSessionId ?? null,
    sessionId: null,
    transactionId: null,
    createdAt: now,
    amountRefunded: 0n,
    assignedAt: null,
    assignedBy: null,
    assignedReason: null,
    dismissedAt: null,
    dismissedBy: null,
    dismissedReason: null,
    restoredAt: null,
    restoredBy: null,
    restoredReason: null,
  });
}

/** Form of unmatched transfers in their table. */
export const transferForm = recordForm<UnmatchedTransfer>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  chainId: 'plain',
  txHash: 'plain',
  logIndex: 'plain',
  blockNumber: 'plain',
  blockHash: 'plain',
  blockTime: 'plain',
  tokenAddress: 'plain',
  sender: 'plain',
  recipient: 'plain',
  amount: 'uint256',
  confirmedAt: 'plain',
  suggestedSessionId: 'plain',
  sessionId: 'plain',
  transactionId: 'plain',
  createdAt: 'plain',
  amountRefunded: 'uint256',
  assignedAt: 'plain',
  assignedBy: 'plain',
  assignedReason: 'plain',
  dismissedAt: 'plain',
  dismissedBy: 'plain',
  dismissedReason: 'plain',
  restoredAt: 'plain',
  restoredBy: 'plain',
  restoredReason: 'plain',
});
