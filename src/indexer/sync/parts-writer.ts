import { uintOf } from '../../db/columns.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import type { BlockRows, ContentTable } from '../decode/block.ts';
import { blockStart } from '../schema/block-position.ts';
import { markDirty, markTouched } from '../schema/dirty-state.ts';
import { select } from '../schema/select.ts';
import type { UnreadParts } from '../schema/unread-blocks.ts';
import {
  highestHead,
  insertContent,
  insertTokens,
  markTokenCreations,
  TOKEN_CREATION,
} from './block-writer.ts';
import { insertLogs, insertTransfers } from './numbered-rows.ts';

/** A block of the index, read again because parts of it were missing. */
interface LaterParts {
  readonly rows: BlockRows;
  /** Parts that were missing before. */
  readonly before: UnreadParts;
  readonly confirmations: number;
}

/**
 * Writes parts of an indexed block that arrived later. Must run in its own transaction. Triggers keep the sums of later
 * blocks. Starts a new epoch when answers about the block may have counted as final.
 */
export async function writeLaterParts(
  handle: Transaction,
  { rows, before, confirmations }: LaterParts,
): Promise<void> {
  const { number, unread } = rows;
  await insertContent(handle, 'contracts', [rows]);
  await writeTokens(handle, rows);
  await writeTransactions(handle, rows);
  if (before.receipts > 0) await writeLogs(handle, rows);
  await replace(handle, 'internal_transactions', rows);
  await writeSums(handle, rows);
  await markTouched(handle, { from: number, to: number });
  await markDirty(handle, rows.touched);
  if (unread === null) await execute(handle, 'delete from unread_blocks where number = ?', [number]);
  else {
    await execute(
      handle,
      'update unread_blocks set receipts = ?, traces = ?, codes = ?, reason = ? where number = ?',
      [unread.receipts, unread.traces, unread.codes, unread.reason, number],
    );
  }
  const isFinal = (await highestHead(handle)) - number >= confirmations;
  await execute(handle, 'update index_state set fills = fills + 1, epoch = epoch + ? where id = 1', [
    isFinal ? 1 : 0,
  ]);
}

/** Adds the tokens that moved. One that also moved later turns out to be older. */
async function writeTokens(handle: Handle, rows: BlockRows): Promise<void> {
  await insertTokens(handle, [rows]);
  for (const { address } of rows.tokens) {
    await execute(handle, 'update tokens set first_block = ? where address = ? and first_block > ?', [
      rows.number,
      address,
      rows.number,
    ]);
  }
}

/** Replaces the transactions, and keeps which of them turned out later to have created a token. */
async function writeTransactions(handle: Transaction, rows: BlockRows): Promise<void> {
  await replace(handle, 'transactions', rows);
  await replace(handle, 'transaction_details', rows);
  await execute(
    handle,
    `update transactions set facts = facts | ${TOKEN_CREATION}
     where id >= ? and id < ? and exists (
       select 1 from tokens t where t.address = created_contract and t.first_block >= ?)`,
    [...rangeOf(rows), rows.number],
  );
  await markTokenCreations(handle, [rows]);
}

/** Adds the logs of transactions that had none, one transaction at a time, and numbers the transfers again. */
async function writeLogs(handle: Transaction, rows: BlockRows): Promise<void> {
  const known = new Set(
    (
      await select({ from: 'logs', isDistinct: true, columns: ['transaction_id'] }).rows(
        handle,
        'where id >= ? and id < ?',
        rangeOf(rows),
      )
    ).map(row => row.transaction_id),
  );
  const missing = rows.logs.filter(log => !known.has(log.transaction_id));
  for (const logs of Map.groupBy(missing, log => log.transaction_id).values()) await insertLogs(handle, logs);
  await execute(handle, 'delete from token_transfers where id >= ? and id < ?', rangeOf(rows));
  await insertTransfers(handle, rows.transfers);
}

/** Replaces the block's rows of a table. */
async function replace(handle: Handle, table: ContentTable, rows: BlockRows): Promise<void> {
  await execute(handle, `delete from ${table} where id >= ? and id < ?`, rangeOf(rows));
  await insertContent(handle, table, [rows]);
}

function rangeOf({ number }: BlockRows): [from: number, to: number] {
  return [blockStart(number), blockStart(number + 1)];
}

/** Writes the columns of a block that depend on its receipts and traces. */
async function writeSums(handle: Handle, { number, rows }: BlockRows): Promise<void> {
  const [block] = rows.blocks;
  if (block === undefined) return;
  const { numeric } = handle.dialect;
  const numericOrNull = (fees: string | null) => (fees === null ? null : numeric(uintOf(fees)));
  await execute(
    handle,
    `update blocks set internal_transaction_count = ?, transaction_fees = ?, burnt_fees = ?, priority_fees = ?,
       proven = ?
     where number = ?`,
    [
      block.internal_transaction_count,
      numericOrNull(block.transaction_fees),
      numericOrNull(block.burnt_fees),
      numericOrNull(block.priority_fees),
      block.proven,
      number,
    ],
  );
}
