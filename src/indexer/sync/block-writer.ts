import type { Handle, Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { insertTyped, placeholders } from '../../db/rows.ts';
import type { BlockRows, ContentTable } from '../decode/block.ts';
import { markDirty, markTouched } from '../schema/dirty-state.ts';
import { readHead } from '../schema/head.ts';
import { select } from '../schema/select.ts';
import { type OwnColumns, TABLES } from '../schema/tables.ts';
import { factsOf } from '../schema/transaction-types.ts';
import { insertLogs, insertTransfers } from './numbered-rows.ts';

/** Bit set on a creation once its contract turns out to be a token. */
export const TOKEN_CREATION = factsOf(['token_creation']);

/**
 * Writes consecutive blocks with all their contents as the new head, in a transaction of their own: after a restart,
 * sync continues from the highest row of `blocks`.
 * Preparing a statement for a few rows costs more than running it, so each table gets one statement for all blocks.
 */
export async function writeBlocks(handle: Transaction, blocks: readonly BlockRows[]): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  for (const table of CONTENT) await insertContent(handle, table, blocks);
  await insertLogs(
    handle,
    blocks.flatMap(({ logs }) => logs),
  );
  await insertTransfers(
    handle,
    blocks.flatMap(({ transfers }) => transfers),
  );
  await insertTokens(handle, blocks);
  await markTokenCreations(handle, blocks);
  await markTouched(handle, { from: first.number, to: last.number });
  await markDirty(
    handle,
    blocks.flatMap(({ touched }) => touched),
  );
  // A block that comes back after a reorganisation is no longer stale.
  await execute(
    handle,
    `delete from stale_blocks where hash in (${placeholders(blocks.length)})`,
    blocks.flatMap(({ rows }) => rows.blocks.map(({ hash }) => hash)),
  );
}

/** Tables in the order in which a block is written. */
const CONTENT: readonly ContentTable[] = [
  'blocks',
  'block_details',
  'transactions',
  'transaction_details',
  'internal_transactions',
  'withdrawals',
  'contracts',
];

/** Inserts the rows of blocks into one table. */
export async function insertContent<Name extends ContentTable>(
  handle: Handle,
  table: Name,
  blocks: readonly Pick<BlockRows, 'rows'>[],
): Promise<void> {
  // A contract can be created twice in a transaction.
  const suffix = table === 'contracts' ? 'on conflict do nothing' : '';
  const columns: OwnColumns<Name> = TABLES[table].columns;
  await insertTyped<OwnColumns<Name>>(
    handle,
    { table, columns, suffix },
    blocks.flatMap(({ rows }) => rows[table]),
  );
}

/** Adds the tokens that moved. A known token keeps its type and first block. */
export async function insertTokens(handle: Handle, blocks: readonly BlockRows[]): Promise<void> {
  const { address, type, first_block } = TABLES.tokens.columns;
  await insertTyped(
    handle,
    { table: 'tokens', columns: { address, type, first_block }, suffix: 'on conflict (address) do nothing' },
    blocks.flatMap(({ tokens }) => tokens),
  );
}

/**
 * Marks transactions that created a token. Only a token's first block can reveal one. The creating transaction is never
 * in a later block.
 */
export async function markTokenCreations(handle: Handle, blocks: readonly BlockRows[]): Promise<void> {
  const [first] = blocks;
  const moved = blocks.flatMap(({ tokens }) => tokens);
  if (first === undefined) return;
  for (let at = 0; at < moved.length; at += TOKENS_PER_STATEMENT) {
    const some = moved.slice(at, at + TOKENS_PER_STATEMENT);
    const tokens = await select({ from: 'tokens', columns: ['address'] }).rows(
      handle,
      `where first_block >= ? and address in (${placeholders(some.length)})`,
      [first.number, ...some.map(({ address }) => address)],
    );
    if (tokens.length === 0) continue;
    await execute(
      handle,
      `update transactions set facts = facts | ${TOKEN_CREATION} where created_contract in (${placeholders(tokens.length)})
       and id >> 20 <= (select first_block from tokens where address = created_contract)`,
      tokens.map(({ address }) => address),
    );
  }
}

/** A block can have more tokens than a statement of SQLite has parameters. */
const TOKENS_PER_STATEMENT = 2_000;

/** Highest head since the last epoch. */
export async function highestHead(handle: Handle): Promise<number> {
  const [state] = await select({ from: 'index_state', columns: ['high_water'] }).rows(handle, 'where id = 1');
  const head = await readHead(handle);
  return Math.max(state?.high_water ?? -1, head?.number ?? -1);
}
