import type { Address, Hash } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { type RowIn, readRows, unionAll } from '../../db/select/select.ts';
import { blockStart } from '../schema/block-position.ts';
import { select } from '../schema/select.ts';

/** Block in which an address may have gained or lost coins. */
export interface CoinMove {
  blockNumber: number;
  /** Key of the block's last transaction that may have moved coins; null when there is none. */
  transactionId: number | null;
}

/** Blocks in which coins of an address may have moved, newest first. */
export interface CoinMoves {
  moves: CoinMove[];
  /** Last block of `moves` when older blocks have not been searched; null when the list is complete. */
  horizon: number | null;
}

/** Conditions under which no coins move. The sender always pays a fee, so it needs no condition. */
const UNPAID = { columns: ['value', 'status'], condition: 'value = ? or status = 0' } as const;
const NO_CALL = { columns: ['value', 'error'], condition: 'value = ? or error is not null' } as const;

/** Columns that can contain an address, the column of the transaction, and the condition under which no coins move. */
const APPEARANCES = [
  { table: 'transactions', column: 'from_address', transaction: 'id', unless: null },
  { table: 'transactions', column: 'to_address', transaction: 'id', unless: UNPAID },
  { table: 'transactions', column: 'created_contract', transaction: 'id', unless: UNPAID },
  { table: 'internal_transactions', column: 'from_address', transaction: 'transaction_id', unless: NO_CALL },
  { table: 'internal_transactions', column: 'to_address', transaction: 'transaction_id', unless: NO_CALL },
  {
    table: 'internal_transactions',
    column: 'created_contract',
    transaction: 'transaction_id',
    unless: NO_CALL,
  },
  { table: 'withdrawals', column: 'address', transaction: null, unless: null },
] as const;

/** Index entries read per column for a page. */
const MAX_ENTRIES = 100;

/**
 * At most `limit` blocks below `below` in which coins of an address may have moved: it sent a transaction, took part in
 * one with a value, received a withdrawal or validated the block. For a busy address, one call finds only a part.
 */
export async function coinMoves(
  handle: Handle,
  { address, below, limit }: { address: Address; below: number; limit: number },
): Promise<CoinMoves> {
  const sources = unionAll([
    ...APPEARANCES.map((appearance, source) =>
      appearanceSql(handle, { ...appearance, source, address, below }),
    ),
    minerSql(handle, { source: APPEARANCES.length, address, below }),
  ]);
  return latest(await readRows(handle, sources), limit);
}

/** Rows with a block in which an address appears, the transaction that shows it, and 1 if coins may have moved. */
const movesOf = (move: { source: number; block: string; transaction: string; moves: string }) =>
  select({
    computed: {
      source: ['count', String(move.source)],
      in_block: ['count', move.block],
      moved_by: ['count?', move.transaction],
      moves_coins: ['count', move.moves],
    },
  });

type MoveColumns = RowIn<ReturnType<typeof movesOf>>;

function latest(rows: readonly MoveColumns[], limit: number): CoinMoves {
  const seen = new Map<number, { entries: number; lowest: number }>();
  for (const { source, in_block: block } of rows) {
    const { entries = 0, lowest = block } = seen.get(source) ?? {};
    seen.set(source, { entries: entries + 1, lowest: Math.min(lowest, block) });
  }
  const cut = [...seen.values()].flatMap(({ entries, lowest }) => (entries < MAX_ENTRIES ? [] : [lowest]));
  const horizon = cut.length === 0 ? null : Math.max(...cut);
  // Some entries of the block at the horizon may be missing, so it is always included.
  const blocks = new Map<number, number | null>(horizon === null ? [] : [[horizon, null]]);
  for (const { in_block: block, moved_by: transaction, moves_coins: moves } of rows) {
    if (moves === 0 || block < (horizon ?? 0)) continue;
    blocks.set(block, Math.max(transaction ?? 0, blocks.get(block) ?? 0) || null);
  }
  const moves = [...blocks]
    .map(([blockNumber, transactionId]) => ({ blockNumber, transactionId }))
    .sort((a, b) => b.blockNumber - a.blockNumber);
  if (moves.length <= limit) return { moves, horizon };
  const page = moves.slice(0, limit);
  return { moves: page, horizon: page.at(-1)?.blockNumber ?? null };
}

const NO_TRANSACTION = 'cast(null as bigint)';

interface AppearanceQuery {
  readonly source: number;
  readonly table: string;
  readonly column: string;
  readonly transaction: string | null;
  readonly unless: typeof UNPAID | typeof NO_CALL | null;
  readonly address: Address;
  readonly below: number;
}

function appearanceSql({ dialect }: Handle, query: AppearanceQuery) {
  const { source, table, column, transaction, unless, address, below } = query;
  const range = dialect.keyRange({
    columns: [column],
    values: [bytesColumn(address)],
    keys: ['id'],
    below: [blockStart(below)],
    order: 'desc',
  });
  const columns = new Set(['id', ...(transaction === null ? [] : [transaction]), ...(unless?.columns ?? [])]);
  const moves = unless === null ? '1' : `case when ${unless.condition} then 0 else 1 end`;
  return movesOf({ source, block: 'id >> 20', transaction: transaction ?? NO_TRANSACTION, moves }).query(
    { dialect },
    `from (select ${[...columns].join(', ')} from ${table}
       where ${range.sql} order by ${range.order} limit ${BOUND}) as found`,
    [...(unless === null ? [] : [dialect.numeric(0n)]), ...range.bindings, MAX_ENTRIES],
  );
}

function minerSql(
  { dialect }: Handle,
  { source, address, below }: Pick<AppearanceQuery, 'source' | 'address' | 'below'>,
) {
  const range = dialect.keyRange({
    columns: ['miner'],
    values: [bytesColumn(address)],
    keys: ['number'],
    below: [below],
    order: 'desc',
  });
  return movesOf({ source, block: 'number', transaction: NO_TRANSACTION, moves: '1' }).query(
    { dialect },
    `from (select number from blocks where ${range.sql} order by ${range.order} limit ${BOUND}) as found`,
    [...range.bindings, MAX_ENTRIES],
  );
}

/** Times of blocks in UTC milliseconds, by block number. */
export async function blockTimes(
  handle: Handle,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (numbers.length === 0) return new Map();
  const rows = await select({ from: 'blocks', columns: ['number', 'timestamp'] }).rows(
    handle,
    `where number in (${placeholders(numbers.length)})`,
    [...numbers],
  );
  return new Map(rows.map(({ number, timestamp }) => [number, timestamp]));
}

/** Hashes of transactions, by key. */
export async function transactionHashes(
  handle: Handle,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Hash>> {
  if (ids.length === 0) return new Map();
  const rows = await select({ from: 'transactions', columns: ['id', 'hash'] }).rows(
    handle,
    `where id in (${placeholders(ids.length)})`,
    [...ids],
  );
  return new Map(rows.map(({ id, hash }) => [id, hexOf(hash)]));
}
