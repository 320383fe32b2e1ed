import type { Column } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { insertRows, placeholders } from '../../db/rows.ts';
import type { BlockRows } from '../decode/block.ts';
import {
  BLOCK_COLUMNS,
  BLOCK_DETAILS_COLUMNS,
  CONTRACT_COLUMNS,
  INTERNAL_TRANSACTION_COLUMNS,
  LOG_COLUMNS,
  MOVED_TOKEN_COLUMNS,
  type RowOf,
  TOKEN_TRANSFER_COLUMNS,
  TRANSACTION_COLUMNS,
  TRANSACTION_DETAILS_COLUMNS,
  valuesOf,
  WITHDRAWAL_COLUMNS,
} from '../schema/columns.ts';
import { markDirty } from '../schema/stale-state.ts';
import { factsOf } from '../schema/transaction-types.ts';

/** The bit that a creation gains when its contract turns out to be a token. */
export const TOKEN_CREATION = factsOf(['token_creation']);

/**
 * Writes blocks, each the next one's parent, with everything inside as the new head. Must run in a transaction of its
 * own: the highest row of `blocks` is the cursor that sync goes on from after a restart. A statement costs more to
 * prepare than to run for the few rows of one block, so there is one a table for all of them.
 */
export async function writeBlocks(handle: Handle, blocks: readonly BlockRows[]): Promise<void> {
  for (const { into, of } of TABLES) await insertRows(handle, into, blocks.flatMap(of));
  await markTokenCreations(handle, blocks);
  await markDirty(
    handle,
    blocks.flatMap(({ dirty }) => dirty),
  );
  // A block that comes back after a reorganisation is not stale any more.
  await handle.raw(
    `delete from stale_blocks where hash in (${placeholders(blocks.length)})`,
    blocks.map(({ block }) => block.hash),
  );
}

interface Table {
  readonly into: { table: string; columns: readonly string[]; suffix?: string };
  readonly of: (rows: BlockRows) => Column[][];
}

const TABLES: readonly Table[] = [
  table({ table: 'blocks', columns: BLOCK_COLUMNS }, ({ block }) => [block]),
  table({ table: 'block_details', columns: BLOCK_DETAILS_COLUMNS }, ({ blockDetails }) => [blockDetails]),
  table({ table: 'transactions', columns: TRANSACTION_COLUMNS }, ({ transactions }) => transactions),
  table(
    { table: 'transaction_details', columns: TRANSACTION_DETAILS_COLUMNS },
    ({ transactionDetails }) => transactionDetails,
  ),
  table({ table: 'logs', columns: LOG_COLUMNS }, ({ logs }) => logs),
  table(
    { table: 'token_transfers', columns: TOKEN_TRANSFER_COLUMNS },
    ({ tokenTransfers }) => tokenTransfers,
  ),
  table(
    { table: 'internal_transactions', columns: INTERNAL_TRANSACTION_COLUMNS },
    ({ internalTransactions }) => internalTransactions,
  ),
  table({ table: 'withdrawals', columns: WITHDRAWAL_COLUMNS }, ({ withdrawals }) => withdrawals),
  table(
    // An address can be created again after its code was destroyed, even within one transaction.
    { table: 'contracts', columns: CONTRACT_COLUMNS, suffix: 'on conflict do nothing' },
    ({ contracts }) => contracts,
  ),
  table(
    { table: 'tokens', columns: MOVED_TOKEN_COLUMNS, suffix: 'on conflict (address) do nothing' },
    ({ tokens }) => tokens,
  ),
];

/** The rows of a table have its columns by name, and all of them. */
function table<Columns extends readonly string[]>(
  into: { table: string; columns: Columns; suffix?: string },
  of: (rows: BlockRows) => readonly RowOf<Columns>[],
): Table {
  return { into, of: rows => of(rows).map(row => valuesOf<Columns[number]>(into.columns, row)) };
}

/**
 * Only a token's first block can reveal one, and only for the transaction that created the contract itself, which is
 * not in a later block.
 */
async function markTokenCreations(handle: Handle, blocks: readonly BlockRows[]): Promise<void> {
  const [first] = blocks;
  const moved = blocks.flatMap(({ tokens }) => tokens);
  if (first === undefined || moved.length === 0) return;
  const tokens = await handle.raw<{ address: Buffer }[]>(
    `select address from tokens where first_block >= ? and address in (${placeholders(moved.length)})`,
    [first.number, ...moved.map(({ address }) => address)],
  );
  if (tokens.length === 0) return;
  await handle.raw(
    `update transactions set facts = facts | ${TOKEN_CREATION} where created_contract in (${placeholders(tokens.length)})
     and block_number <= (select first_block from tokens where address = created_contract)`,
    tokens.map(({ address }) => address),
  );
}
