import type { Column } from '../../db/columns.ts';
import type { Db, Handle } from '../../db/open.ts';
import { insertRows, placeholders } from '../../db/rows.ts';
import { transaction } from '../../db/transaction.ts';
import type { BlockRows } from '../decode/block.ts';
import { blockStart } from '../schema/block-position.ts';
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
import { DIRTY_KINDS, markDirty } from '../schema/stale-state.ts';
import { factsOf } from '../schema/transaction-types.ts';

/** The bit that a creation gains when its contract turns out to be a token. */
const TOKEN_CREATION = factsOf(['token_creation']);

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

/**
 * Takes every block above `ancestor` out of the canonical chain, in one transaction: headers move to
 * `stale_blocks`, contents go, and all state that these blocks had touched is marked to be read again. A new epoch
 * starts when what goes may have counted as final: measured from the highest head since the last epoch, for a chain
 * can go back a long way in small steps.
 */
export async function unwind(
  db: Db,
  { ancestor, confirmations }: { ancestor: number; confirmations: number },
): Promise<{ isDeep: boolean }> {
  const from = blockStart(ancestor + 1);
  const columns = BLOCK_COLUMNS.join(', ');
  return transaction(db, async handle => {
    const highWater = await highestHead(handle);
    const isDeep = highWater - ancestor > confirmations;
    for (const sql of TOUCHED) await handle.raw(sql, { from, ancestor });
    await handle.raw(
      `insert into stale_blocks (kind, ${columns}) select 'reorg', ${columns} from blocks
       where number > :ancestor on conflict (hash) do nothing`,
      { ancestor },
    );
    for (const sql of FORGOTTEN) await handle.raw(sql, { from, ancestor });
    await handle.raw('update index_state set epoch = epoch + ?, high_water = ? where id = 1', [
      isDeep ? 1 : 0,
      isDeep ? ancestor : highWater,
    ]);
    return { isDeep };
  });
}

async function highestHead(handle: Handle): Promise<number> {
  const [row] = await handle.raw<{ highest: number }[]>(
    `select max(high_water, coalesce((select max(number) from blocks), -1)) as highest
     from index_state where id = 1`,
  );
  return row?.highest ?? -1;
}

const { coin, token, balance, instance } = DIRTY_KINDS;
const ZERO = `zeroblob(20)`;

function touchedCoins(column: string, table: string, key: string): string {
  return `insert into dirty select ${coin}, ${column}, x'', '' from ${table}
    where ${key} and ${column} is not null on conflict do nothing`;
}

function touchedBalances(column: string): string {
  return `insert into dirty
    select ${balance}, token, ${column}, case when token_type = 3 then token_id else '' end
    from token_transfers where id >= :from and ${column} <> ${ZERO} on conflict do nothing`;
}

/** What the block writer had marked for these blocks, found again in their rows. */
const TOUCHED = [
  touchedCoins('miner', 'blocks', 'number > :ancestor'),
  touchedCoins('from_address', 'transactions', 'id >= :from'),
  touchedCoins('to_address', 'transactions', 'id >= :from'),
  touchedCoins('created_contract', 'transactions', 'id >= :from'),
  touchedCoins('address', 'logs', 'id >= :from'),
  touchedCoins('from_address', 'internal_transactions', 'id >= :from'),
  touchedCoins('to_address', 'internal_transactions', 'id >= :from'),
  touchedCoins('created_contract', 'internal_transactions', 'id >= :from'),
  touchedCoins('from_address', 'token_transfers', 'id >= :from'),
  touchedCoins('to_address', 'token_transfers', 'id >= :from'),
  touchedCoins('address', 'withdrawals', 'id >= :from'),
  touchedBalances('from_address'),
  touchedBalances('to_address'),
  `insert into dirty select ${token}, token, x'', '' from token_transfers
    where id >= :from and (from_address = ${ZERO} or to_address = ${ZERO}) on conflict do nothing`,
  `insert into dirty select ${instance}, token, x'', token_id from token_transfers
    where id >= :from and token_type = 2 on conflict do nothing`,
] as const;

const NEW_TOKENS = 'select address from tokens where first_block > :ancestor';

const FORGOTTEN = [
  // Read again whether it still is a contract: only an account not known as one is asked for its code.
  `update addresses set is_contract = 0 where address in
    (select address from contracts where transaction_id >= :from)`,
  `update transactions set facts = facts & ~${TOKEN_CREATION} where created_contract in (${NEW_TOKENS})`,
  `delete from dirty where kind <> ${coin} and address in (${NEW_TOKENS})`,
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
  'delete from blocks where number > :ancestor',
] as const;
