import { BOUND } from '#db/query.ts';
import type { Binding } from '../../db/columns.ts';
import type { KeyRange } from '../../db/dialect.ts';
import type { Handle } from '../../db/open.ts';
import type { Sql } from '../../db/query.ts';
import { type BlockPosition, blockStart, LAST_PLACE, positionKey } from '../schema/block-position.ts';

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

/** A page of the rows of a table that some branches find. */
export interface KeyQuery extends PageRequest, ForwardPageRequest {
  table: 'transactions' | 'logs' | 'token_transfers' | 'internal_transactions';
  branches: readonly Branch[];
  blockNumber?: number | undefined;
  /** Newest first unless said otherwise. */
  forward?: boolean;
}

/** Well below SQLite's limit of terms in a compound select. */
const BRANCHES_PER_STATEMENT = 100;

/**
 * The rows of a page: `read` gives those whose key `isAmong`. Each branch reads `limit + 1` entries of an index and stops, so
 * the cost depends on the limit and the number of branches, not on the length of the chain. Keys and rows come from the
 * same statement: keys are places, and after a reorganisation other rows lie there.
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
    const keys = firstOf(
      part.map(branch => firstKeys(handle, table, { ...branch, ...range })),
      range,
    );
    for (const row of await read({ sql: handle.dialect.among(keys.sql), bindings: keys.bindings }))
      found.set(row.id, row);
  }
  const rows = [...found.values()].sort((a, b) => (forward ? a.id - b.id : b.id - a.id));
  return { items: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** The first keys of what several ranges have. */
export function firstOf(
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

/** The first keys of a range. */
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

/** Bounds of the keys that a page may have, and one more than it may have. */
function rangeOf({ before, after, blockNumber, forward = false, limit }: KeyQuery) {
  const start = blockNumber === undefined ? 0 : blockStart(blockNumber);
  const lowest = after === undefined ? start : Math.max(start, positionKey(after) + 1);
  const end = blockNumber === undefined ? LAST_PLACE : blockStart(blockNumber + 1);
  const below = before === undefined ? end : Math.min(end, positionKey(before));
  return { above: [lowest - 1], below: [below], order: forward ? 'asc' : 'desc', limit: limit + 1 } as const;
}

/** The rows of a page in the order of their keys. */
export function inOrder<Row extends { id: number }>(keys: readonly number[], rows: readonly Row[]): Row[] {
  const byKey = new Map(rows.map(row => [row.id, row]));
  return keys.flatMap(key => byKey.get(key) ?? []);
}
