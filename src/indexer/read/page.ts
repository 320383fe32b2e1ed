import type { Binding } from '../../db/columns.ts';
import type { KeyRange } from '../../db/dialect.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import { type BlockPosition, blockStart, LAST_PLACE, positionKey } from '../schema/block-position.ts';
import type { IndexTables } from '../schema/columns.ts';

/** One page of a list. The last item's place, handed back as `before` or `after`, asks for the next. */
export interface Page<Item> {
  items: Item[];
  hasMore: boolean;
}

/** A page of a list that runs newest first. */
export interface PageRequest {
  /** Only what lies before this place; the newest when absent. */
  before?: BlockPosition;
  /** At least 1. */
  limit: number;
}

/** A page of a list that runs in the order in which things happened. */
export interface ForwardPageRequest {
  /** Only what lies behind this place; the first when absent. */
  after?: BlockPosition;
  /** At least 1. */
  limit: number;
}

/** Rows that an index has sorted by key: those with these values. What several branches of a query find counts once. */
export interface Branch {
  readonly columns: readonly string[];
  readonly values: readonly Binding[];
  /** What else must hold; rows for which it does not are passed over. */
  readonly only?: Sql;
}

/** Every row of the table. */
export const EVERYTHING: Branch = { columns: [], values: [] };

interface KeyQuery extends PageRequest, ForwardPageRequest {
  table: 'transactions' | 'logs' | 'token_transfers' | 'internal_transactions';
  branches: readonly Branch[];
  blockNumber?: number | undefined;
  /** Newest first unless said otherwise. */
  forward?: boolean;
}

/** Well below SQLite's limit of terms in a compound select. */
const BRANCHES_PER_STATEMENT = 100;

/**
 * Keys of the page's rows, and of one more if there is one. Each branch reads `limit + 1` entries of an index
 * and stops, so the cost depends on the limit and the number of branches, not on the length of the chain.
 */
export async function pageKeys(
  handle: Handle,
  query: KeyQuery,
): Promise<{ keys: number[]; hasMore: boolean }> {
  const { table, branches, limit, before, after, blockNumber, forward = false } = query;
  const start = blockNumber === undefined ? 0 : blockStart(blockNumber);
  const lowest = after === undefined ? start : Math.max(start, positionKey(after) + 1);
  const end = blockNumber === undefined ? LAST_PLACE : blockStart(blockNumber + 1);
  const below = before === undefined ? end : Math.min(end, positionKey(before));
  const found = new Set<number>();
  for (let first = 0; first < branches.length; first += BRANCHES_PER_STATEMENT) {
    const part = branches.slice(first, first + BRANCHES_PER_STATEMENT);
    const selects = part.map(branch =>
      firstKeys(handle, table, {
        ...branch,
        above: [lowest - 1],
        below: [below],
        order: forward ? 'asc' : 'desc',
        limit: limit + 1,
      }),
    );
    const rows = await rowsOf<Pick<IndexTables['transactions'], 'id'>>(
      handle,
      selects.map(({ sql }) => sql).join(' union all '),
      selects.flatMap(({ bindings }) => bindings),
    );
    for (const { id } of rows) found.add(id);
  }
  const keys = [...found].sort((a, b) => (forward ? a - b : b - a));
  return { keys: keys.slice(0, limit), hasMore: keys.length > limit };
}

/** The first keys of a range. */
export function firstKeys(
  { dialect }: Handle,
  table: string,
  { only, limit, ...range }: Branch & Omit<KeyRange, 'keys'> & { limit: number },
): Sql {
  const { sql, bindings, order } = dialect.keyRange({ ...range, keys: ['id'] });
  const where = only === undefined ? sql : `${sql} and ${only.sql}`;
  return {
    sql: `select id from (select id from ${table} where ${where} order by ${order} limit ?) as found`,
    bindings: [...bindings, ...(only?.bindings ?? []), limit],
  };
}

/** The rows of a page in the order of their keys. */
export function inOrder<Row extends { id: number }>(keys: readonly number[], rows: readonly Row[]): Row[] {
  const byKey = new Map(rows.map(row => [row.id, row]));
  return keys.flatMap(key => byKey.get(key) ?? []);
}
