import { jsonColumn, jsonOf, uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { depositSums } from '../deposits/deposit-sums.ts';
import type { Decision } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { OwnedTransfer } from '../model/transfer.ts';
import { type PlacedTransfer, transferStore } from '../store/transfer-store.ts';
import { select } from '../tables/select.ts';

/** A decision about a transfer, and its time in UTC milliseconds. */
type TransferDecision = Decision & { readonly now: number };

/** Decisions of merchants about unmatched transfers. The caller has checked that the transfer is in the right state. */
export function transferDecisions(handle: Handle) {
  return {
    /** Records the session and payment of a transfer. False unless it is open. */
    async assign(
      id: string,
      { sessionId, transactionId }: { sessionId: string; transactionId: string },
      { actor, reason, now }: TransferDecision,
    ): Promise<boolean> {
      const changed = await handle('unmatched_transfers')
        .where({ id, assigned_at: null, dismissed_at: null })
        .whereNotNull('confirmed_at')
        .update({
          session_id: sessionId,
          transaction_id: transactionId,
          assigned_at: now,
          assigned_by: actor,
          assigned_reason: reason,
        });
      return changed === 1;
    },

    /** Records the session of an assigned transfer whose payment was moved. */
    async follow({ id, sessionId }: Pick<PaymentTransaction, 'id' | 'sessionId'>): Promise<void> {
      await handle('unmatched_transfers').where({ transaction_id: id }).update({ session_id: sessionId });
    },

    /** Marks an open transfer as no payment. */
    async dismiss(id: string, { actor, reason, now }: TransferDecision): Promise<void> {
      await handle('unmatched_transfers')
        .where({ id, assigned_at: null, dismissed_at: null })
        .update({ dismissed_at: now, dismissed_by: actor, dismissed_reason: reason });
    },

    /** Opens a dismissed transfer again. */
    async restore(id: string, { actor, reason, now }: TransferDecision): Promise<void> {
      await handle('unmatched_transfers').where({ id }).whereNotNull('dismissed_at').update({
        dismissed_at: null,
        dismissed_by: null,
        dismissed_reason: null,
        restored_at: now,
        restored_by: actor,
        restored_reason: reason,
      });
    },
  };
}

/** Condition that an unmatched transfer must keep its record: a merchant decided about it, or a refund names it. */
const IS_DECIDED = `(dismissed_at is not null or restored_at is not null or exists (
  select 1 from refunds r where r.unmatched_transfer_id = unmatched_transfers.id
))`;

const IS_KEPT = `(assigned_at is not null or ${IS_DECIDED})`;

const ROWS = select({ from: 'unmatched_transfers', columns: ['*'] });
type TransferRow = Awaited<ReturnType<typeof ROWS.rows>>[number];

/**
 * Unmatched transfers with a decision or a refund that the chain dropped. Their records wait here until a block has the
 * transfer again (Decision 369).
 */
export function droppedTransfers(handle: Handle) {
  async function park(rows: readonly TransferRow[]): Promise<void> {
    if (rows.length === 0) return;
    await handle('dropped_transfers').insert(
      rows.map(row => ({
        id: row.id,
        chain_id: row.chain_id,
        tx_hash: row.tx_hash,
        amount_refunded: row.amount_refunded,
        record: jsonColumn(row),
      })),
    );
    await handle('unmatched_transfers')
      .whereIn(
        'id',
        rows.map(({ id }) => id),
      )
      .delete();
  }

  return {
    /**
     * Takes transfers from the list that the chain dropped, and returns their number. Assigned ones stay, and those that
     * moved to another block. The sums of deposit addresses follow (Decision 403).
     */
    async drop(transfers: readonly PlacedTransfer[]): Promise<number> {
      const blocks = new Map(transfers.map(({ id, blockHash }) => [id, blockHash]));
      const decided = await ROWS.rows(
        handle,
        `where id in (${placeholders(blocks.size)}) and assigned_at is null and ${IS_DECIDED}`,
        [...blocks.keys()],
      );
      const dropped = decided.filter(row => row.block_hash === blocks.get(row.id));
      await park(dropped);
      const parked = dropped.map(row => ({ chainId: row.chain_id, recipient: row.recipient }));
      const gone = [...parked, ...(await transferStore(handle).remove(transfers))];
      for (const [chainId, some] of Map.groupBy(gone, one => one.chainId))
        await depositSums(handle).recount(
          chainId,
          some.map(({ recipient }) => recipient),
        );
      return gone.length;
    },

    /**
     * Gives transfers that are back on the chain their records again, unconfirmed. Other records of the same transactions
     * in replaced blocks make room for them: log indexes count within a block. An assigned record makes room by going to
     * the new log index of its own transfer.
     */
    async restore(owned: readonly OwnedTransfer[]): Promise<void> {
      const [first] = owned;
      if (first === undefined) return;
      const { chainId } = first.transfer;
      const blocks = new Map(owned.map(({ transfer }) => [transfer.txHash, transfer.blockHash]));
      const ofTransactions = `chain_id = ? and tx_hash in (${placeholders(blocks.size)})`;
      const bindings = [chainId, ...blocks.keys()];
      // One statement suffices for transfers that are new.
      const known = await rowsOf(
        handle,
        `select 1 as found where exists (select 1 from dropped_transfers where ${ofTransactions})
           or exists (select 1 from unmatched_transfers where ${ofTransactions} and ${IS_KEPT})`,
        [...bindings, ...bindings],
      );
      if (known.length === 0) return;
      const kept = await ROWS.rows(handle, `where ${ofTransactions} and ${IS_KEPT}`, bindings);
      const replaced = kept.filter(row => row.block_hash !== blocks.get(row.tx_hash));
      await park(replaced.filter(row => isOpen(row) || isInTheWay(row, owned)));
      const waiting = await select({
        from: 'dropped_transfers',
        columns: ['id', 'amount_refunded', 'record'],
      }).rows(handle, `where ${ofTransactions} order by id`, bindings);
      const rows = waiting.map(({ record, ...known }) => ({ ...jsonOf<TransferRow>(record), ...known }));
      const left = [...owned];
      // Payments take the first of equal transfers, so their records do.
      for (const row of rows.toSorted((a, b) => Number(isOpen(a)) - Number(isOpen(b)))) {
        const index = left.findIndex(one => isSame(row, one));
        const [back] = index < 0 ? [] : left.splice(index, 1);
        if (back !== undefined) await unpark(row, back);
      }
      const recipients = [...kept.map(row => row.recipient), ...owned.map(one => one.transfer.recipient)];
      await depositSums(handle).recount(chainId, recipients);
    },
  };

  async function unpark(row: TransferRow, { owner, transfer }: OwnedTransfer): Promise<void> {
    const { chainId, txHash, logIndex, blockNumber, blockHash, blockTime, suggestedSessionId } = transfer;
    const log = { chain_id: chainId, tx_hash: txHash, log_index: logIndex };
    const at = { ...log, organization_id: owner.organizationId, mode: owner.mode };
    // An undecided record at this log index is the same transfer, or of a replaced block.
    await handle('unmatched_transfers').where(at).whereNull('assigned_at').whereNull('dismissed_at').delete();
    const back = {
      ...row,
      ...at,
      block_number: blockNumber,
      block_hash: blockHash,
      block_time: blockTime,
      ...(isOpen(row) && { suggested_session_id: suggestedSessionId ?? null, confirmed_at: null }),
    };
    const inserted = await handle('unmatched_transfers').insert(back).onConflict().ignore().returning('id');
    if (inserted.length > 0) await handle('dropped_transfers').where({ id: row.id }).delete();
  }
}

function isOpen({ assigned_at: assignedAt }: TransferRow): boolean {
  return assignedAt === null;
}

/** True when another transfer is now at the log index of an assigned record, whose own transfer is at another one. */
function isInTheWay(row: TransferRow, owned: readonly OwnedTransfer[]): boolean {
  const own = owned.find(one => isSame(row, one))?.transfer.logIndex ?? row.log_index;
  return own !== row.log_index && owned.some(one => isAt(row, one));
}

function isAt(row: TransferRow, { owner, transfer }: OwnedTransfer): boolean {
  return (
    row.tx_hash === transfer.txHash &&
    row.log_index === transfer.logIndex &&
    row.organization_id === owner.organizationId &&
    row.mode === owner.mode
  );
}

/** True when a dropped record is of this transfer, at any log index. */
function isSame(row: TransferRow, { owner, transfer }: OwnedTransfer): boolean {
  return (
    row.tx_hash === transfer.txHash &&
    row.organization_id === owner.organizationId &&
    row.mode === owner.mode &&
    row.token_address === transfer.tokenAddress &&
    row.sender === transfer.sender &&
    row.recipient === transfer.recipient &&
    row.amount === uintColumn(transfer.amount)
  );
}
