import type { Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { blockStart } from '../schema/block-position.ts';
import { markRemoved } from '../schema/dirty-state.ts';
import { DELETE_REMOVED, NEW_TOKENS, TABLES } from '../schema/tables.ts';
import { highestHead, TOKEN_CREATION } from './block-writer.ts';

/**
 * Removes all blocks above `ancestor` from the canonical chain, in a transaction of its own.
 * Headers move to `stale_blocks`, contents are deleted, and all state that the blocks touched becomes dirty. Triggers
 * keep the counters.
 * Starts a new epoch when a removed block may have counted as final. The depth is measured from the highest head since
 * the last epoch, because a chain can go back a long way in small steps.
 */
export async function unwind(
  handle: Transaction,
  { ancestor, confirmations }: { ancestor: number; confirmations: number },
): Promise<{ isDeep: boolean }> {
  const columns = Object.keys(TABLES.blocks.columns).join(', ');
  const highWater = await highestHead(handle);
  const isDeep = highWater - ancestor > confirmations;
  await markRemoved(handle, { from: ancestor + 1, to: highWater });
  await execute(
    handle,
    `insert into stale_blocks (kind, ${columns}) select 'reorg', ${columns} from blocks
     where number > ? on conflict (hash) do nothing`,
    [ancestor],
  );
  const removed = { from: blockStart(ancestor + 1), ancestor };
  for (const sql of [...UNDO_UPDATES, ...DELETE_REMOVED]) await handle.raw(sql, removed);
  await execute(handle, 'update index_state set epoch = epoch + ?, high_water = ? where id = 1', [
    isDeep ? 1 : 0,
    isDeep ? ancestor : highWater,
  ]);
  return { isDeep };
}

/** Statements that undo what removed blocks changed in rows that stay. */
const UNDO_UPDATES = [
  // The code is read again only for accounts not known as contracts.
  `update addresses set is_contract = 0 where address in
    (select address from contracts where transaction_id >= :from)`,
  `update transactions set facts = facts & ~${TOKEN_CREATION} where created_contract in (${NEW_TOKENS})`,
] as const;
