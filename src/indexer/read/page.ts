import { BOUND } from '#db/query.ts';
import type { Binding } from '../../db/columns.ts';
import type { KeyRange } from '../../db/dialect.ts';
import type { Handle } from '../../db/open.ts';
import type { Sql } from '../../db/query.ts';
import { type BlockPosition, blockStart, LAST_KEY, positionKey } from '../schema/block-position.ts';

/** One page of a list. The last item's position, passed as `before` or `after`, requests the next page. */
export interface Page<Item> {
  items: Item[];
  hasMore: boolean;
}

/** Request for a page of a list, newest first. */
export interface PageRequest {
  /** Only rows before this position; the newest when absent. */
  before?: BlockPosition | undefined;
  /** At least 1. */
  limit: number;
}

/** Request for a page of a list in chain order. */
export interface ForwardPageRequest {
  /** Only rows after this position; the first when absent. */
  after?: BlockPosition | undefined;
  /** At least 1. */
  limit: number;
}

/** Index range with these column values, sorted by key. A row found by several branches is returned once. */
export interface Branch {
  readonly columns: readonly string[];
  readonly values: readonly Binding[];
  /** Further condition; other rows are skipped. */
  readonly only?: Sql;
}

/** All rows of the table. */
export const EVERYTHING: Branch = { columns: [], values: [] };

/** Page of the rows found by at least one of several branches. */
export interface KeyQuery extends PageRequest, ForwardPageRequest {
  table: 'transactions' | 'logs' | 'token_transfers' | 'internal_transactions';
  branches: readonly Branch[];
  blockNumber?: number | undefined;
  /** Chain order; newest first by default. */
  forward?: boolean;
}

/** Well below SQLite's limit of terms in a compound select. */
const BRANCHES_PER_STATEMENT = 100;

/**
 * Reads the rows of a page. `read` returns the rows whose key `isAmong`.
 * Each branch reads at most `limit + 1` index entries, so the cost depends on the limit and the number of branches, not
 * on the length of the chain. Keys and rows come from the same statement: keys are positions, and after a
 * reorganisation they refer to other rows.
 */
export async function pageOf<Row extends { id: number }>(
  handle: Handle,
  query: KeyQuery,
  read: (isAmong: Sql) => Promise<Row[]>,
): Promise<Page<Row>> {
  const { table, branches, limit, forward = false } = query;
  const range = rangeOf(query);
  const found = new Map<number, Row>();
  for (let first = 0; first < branches.length; first += BRANCHES_PER_STATEMENT) {
    const part = branches.slice(first, first + BRANCHES_PER_STATEMENT);
    const keys = firstOfRanges(
      part.map(branch => firstKeys(handle, table, { ...branch, ...range })),
      range,
    );
    for (const row of await read({ sql: handle.dialect.among(keys.sql), bindings: keys.bindings }))
      found.set(row.id, row);
  }
  const rows = [...found.values()].sort((a, b) => (forward ? a.id - b.id : b.id - a.id));
  return { items: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** Selects the first keys of several ranges. */
export function firstOfRanges(
  ranges: readonly Sql[],
  { order, limit }: { order: 'asc' | 'desc'; limit: number },
): Sql {
  const [first, ...others] = ranges;
  if (first !== undefined && others.length === 0) return first;
  return {
    sql: `select id from (${ranges.map(({ sql }) => sql).join(' union all ')}) as found
          group by id order by id ${order} limit ${BOUND}`,
    bindings: [...ranges.flatMap(({ bindings }) => bindings), limit],
  };
}

/** Selects the first keys of a range. */
export function firstKeys(
  { dialect }: Handle,
  table: string,
  { only, limit, ...range }: Branch & Omit<KeyRange, 'keys'> & { limit: number },
): Sql {
  const { sql, bindings, order } = dialect.keyRange({ ...range, keys: ['id'] });
  const where = only === undefined ? sql : `${sql} and ${only.sql}`;
  return {
    sql: `select id from (select id from ${table} where ${where} order by ${order} limit ${BOUND}) as found`,
    bindings: [...bindings, ...(only?.bindings ?? []), limit],
  };
}

/** Key bounds of a page, and a limit of one row more than the page has. */
function rangeOf({ before, after, blockNumber, forward = false, limit }: KeyQuery) {
  const start = blockNumber === undefined ? 0 : blockStart(blockNumber);
  const lowest = after === undefined ? start : Math.max(start, positionKey(after) + 1);
  const end = blockNumber === undefined ? LAST_KEY : blockStart(blockNumber + 1);
  const below = before === undefined ? end : Math.min(end, positionKey(before));
  return { above: [lowest - 1], below: [below], order: forward ? 'asc' : 'desc', limit: limit + 1 } as const;
}

/** Rows of a page in the order of their keys. */
export function rowsInKeyOrder<Row extends { id: number }>(
  keys: readonly number[],
  rows: readonly Row[],
): Row[] {
  const byKey = new Map(rows.map(row => [row.id, row]));
  return keys.flatMap(key => byKey.get(key) ?? []);
}
