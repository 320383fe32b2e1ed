import type { Columns, RowOf } from '../../db/columns.ts';
import type { Dialect } from '../../db/dialect.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { insertTyped, placeholders, type TypedTable } from '../../db/rows.ts';
import type { BlockRows } from '../decode/block.ts';
import { blockStart } from '../schema/block-position.ts';
import {
  BLOCK_COLUMNS,
  BLOCK_DETAILS_COLUMNS,
  CONTRACT_COLUMNS,
  INTERNAL_TRANSACTION_COLUMNS,
  type IndexTables,
  LOG_COLUMNS,
  MOVED_TOKEN_COLUMNS,
  TOKEN_TRANSFER_COLUMNS,
  TRANSACTION_COLUMNS,
  TRANSACTION_DETAILS_COLUMNS,
  WITHDRAWAL_COLUMNS,
} from '../schema/columns.ts';
import { readHead } from '../schema/head.ts';
import { DIRTY_KINDS, markDirty } from '../schema/stale-state.ts';
import { touchedRows } from '../schema/touched-rows.ts';
import { factsOf } from '../schema/transaction-types.ts';

/** Bit set on a creation once its contract turns out to be a token. */
export const TOKEN_CREATION = factsOf(['token_creation']);

/**
 * Writes consecutive blocks with all their contents as the new head. Must run in its own transaction: after a restart,
 * sync continues from the highest row of `blocks`.
 * Preparing a statement for a few rows costs more than running it, so each table gets one statement for all blocks.
 */
export async function writeBlocks(handle: Handle, blocks: readonly BlockRows[]): Promise<void> {
  for (const insert of Object.values(INSERTS)) await insert(handle, blocks);
  await markTokenCreations(handle, blocks);
  await markDirty(
    handle,
    blocks.flatMap(({ dirty }) => dirty),
  );
  // A block that comes back after a reorganisation is no longer stale.
  await execute(
    handle,
    `delete from stale_blocks where hash in (${placeholders(blocks.length)})`,
    blocks.map(({ block }) => block.hash),
  );
}

/** Inserts the rows of one table. */
type InsertBlocks = (handle: Handle, blocks: readonly BlockRows[]) => Promise<void>;

/** Inserts of each table, in the order in which a block is written. */
export const INSERTS = {
  blocks: table({ table: 'blocks', columns: BLOCK_COLUMNS }, ({ block }) => [block]),
  blockDetails: table({ table: 'block_details', columns: BLOCK_DETAILS_COLUMNS }, ({ blockDetails }) => [
    blockDetails,
  ]),
  transactions: table(
    { table: 'transactions', columns: TRANSACTION_COLUMNS },
    ({ transactions }) => transactions,
  ),
  transactionDetails: table(
    { table: 'transaction_details', columns: TRANSACTION_DETAILS_COLUMNS },
    ({ transactionDetails }) => transactionDetails,
  ),
  logs: table({ table: 'logs', columns: LOG_COLUMNS }, ({ logs }) => logs),
  tokenTransfers: table(
    { table: 'token_transfers', columns: TOKEN_TRANSFER_COLUMNS },
    ({ tokenTransfers }) => tokenTransfers,
  ),
  internalTransactions: table(
    { table: 'internal_transactions', columns: INTERNAL_TRANSACTION_COLUMNS },
    ({ internalTransactions }) => internalTransactions,
  ),
  withdrawals: table({ table: 'withdrawals', columns: WITHDRAWAL_COLUMNS }, ({ withdrawals }) => withdrawals),
  contracts: table(
    // An address can be created again after its code was destroyed, even within one transaction.
    { table: 'contracts', columns: CONTRACT_COLUMNS, suffix: 'on conflict do nothing' },
    ({ contracts }) => contracts,
  ),
  tokens: table(
    { table: 'tokens', columns: MOVED_TOKEN_COLUMNS, suffix: 'on conflict (address) do nothing' },
    ({ tokens }) => tokens,
  ),
} as const satisfies Readonly<Record<string, InsertBlocks>>;

function table<Table extends Columns>(
  into: TypedTable<Table>,
  of: (rows: BlockRows) => readonly Readonly<RowOf<Table>>[],
): InsertBlocks {
  return (handle, blocks) => insertTyped(handle, into, blocks.flatMap(of));
}

/**
 * Marks transactions that created a token. Only a token's first block can reveal one. The creating transaction is never
 * in a later block.
 */
export async function markTokenCreations(handle: Handle, blocks: readonly BlockRows[]): Promise<void> {
  const [first] = blocks;
  const moved = blocks.flatMap(({ tokens }) => tokens);
  if (first === undefined || moved.length === 0) return;
  const tokens = await rowsOf<Pick<IndexTables['tokens'], 'address'>>(
    handle,
    `select address from tokens where first_block >= ? and address in (${placeholders(moved.length)})`,
    [first.number, ...moved.map(({ address }) => address)],
  );
  if (tokens.length === 0) return;
  await execute(
    handle,
    `update transactions set facts = facts | ${TOKEN_CREATION} where created_contract in (${placeholders(tokens.length)})
     and block_number <= (select first_block from tokens where address = created_contract)`,
    tokens.map(({ address }) => address),
  );
}

/**
 * Removes all blocks above `ancestor` from the canonical chain. Must run in its own transaction.
 * Headers move to `stale_blocks`, contents are deleted, and all state that the blocks touched becomes dirty.
 * Starts a new epoch when a removed block may have counted as final. The depth is measured from the highest head since
 * the last epoch, because a chain can go back a long way in small steps.
 */
export async function unwind(
  handle: Transaction,
  { ancestor, confirmations }: { ancestor: number; confirmations: number },
): Promise<{ isDeep: boolean }> {
  const range = { from: blockStart(ancestor + 1), ancestor };
  const columns = Object.keys(BLOCK_COLUMNS).join(', ');
  const highWater = await highestHead(handle);
  const isDeep = highWater - ancestor > confirmations;
  for (const sql of touchedIn(handle.dialect)) await handle.raw(sql, range);
  await execute(
    handle,
    `insert into stale_blocks (kind, ${columns}) select 'reorg', ${columns} from blocks
     where number > ? on conflict (hash) do nothing`,
    [ancestor],
  );
  for (const sql of FORGOTTEN) await handle.raw(sql, range);
  await execute(handle, 'update index_state set epoch = epoch + ?, high_water = ? where id = 1', [
    isDeep ? 1 : 0,
    isDeep ? ancestor : highWater,
  ]);
  return { isDeep };
}

export async function highestHead(handle: Handle): Promise<number> {
  const [state] = await rowsOf<Pick<IndexTables['index_state'], 'high_water'>>(
    handle,
    'select high_water from index_state where id = 1',
  );
  const head = await readHead(handle);
  return Math.max(state?.high_water ?? -1, head?.number ?? -1);
}

/** Statements that mark what these blocks touched. It is read again at `:ancestor` or above. */
function touchedIn(dialect: Dialect): string[] {
  return touchedRows(dialect, { ofRows: 'id >= :from', ofBlocks: 'number > :ancestor' }).map(
    rows => `insert into dirty (kind, address, holder, token_id, block)
      select kind, address, holder, token_id, cast(:ancestor as bigint) from (${rows}) touched where true
      on conflict (kind, address, holder, token_id) do update set block = excluded.block`,
  );
}

const NEW_TOKENS = 'select address from tokens where first_block > :ancestor';

const FORGOTTEN = [
  // The code is read again only for accounts not known as contracts.
  `update addresses set is_contract = 0 where address in
    (select address from contracts where transaction_id >= :from)`,
  `update transactions set facts = facts & ~${TOKEN_CREATION} where created_contract in (${NEW_TOKENS})`,
  `delete from dirty where kind <> ${DIRTY_KINDS.coin} and address in (${NEW_TOKENS})`,
  `delete from token_balances where token in (${NEW_TOKENS})`,
  `delete from token_instances where token in (${NEW_TOKENS})`,
  'delete from tokens where first_block > :ancestor',
  'delete from contracts where transaction_id >= :from',
  'delete from withdrawals where id >= :from',
  'delete from internal_transactions where id >= :from',
  'delete from token_transfers where id >= :from',
  'delete from logs where id >= :from',
  'delete from transaction_details where id >= :from',
  'delete from transactions where id >= :from',
  'delete from block_details where number > :ancestor',
  'delete from unread_blocks where number > :ancestor',
  'delete from blocks where number > :ancestor',
] as const;
