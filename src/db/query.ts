import type { Binding } from './columns.ts';
import type { Handle } from './open.ts';

/** SQL fragment with its bindings. */
export interface Sql {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/**
 * Returns the rows of a statement (`select`, or any with `returning`). Both databases give the same values, except for
 * booleans (see `booleanOf`) and for `numeric` columns unless `PostgresOptions.numeric` makes them equal. Outside a
 * transaction a read sees committed data and waits for no transaction. Reads are SQL text, because knex's builder takes
 * at least 13 µs per statement, about as long as SQLite takes to run it. `Row` is not checked: `select/select.ts` gives
 * rows of the type of their columns.
 */
export async function rowsOf<Row>(
  handle: Handle,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<Row[]> {
  const rows = handle.isTransaction ? undefined : handle.reads?.rowsOf<Row>(sql, bindings);
  if (rows !== undefined) return rows;
  // knex returns the driver's result: rows on SQLite, an object with rows on PostgreSQL.
  const result = await handle.raw(sql, [...bindings]);
  return Array.isArray(result) ? result : result.rows;
}

/**
 * Placeholder for a limit or an offset. For a bare `?` SQLite plans by its value and recompiles the statement for each
 * binding, which takes as long as reading a page.
 */
export const BOUND = 'cast(? as bigint)';

/** Runs an `insert`, `update` or `delete` without `returning`. Returns the number of rows changed. */
export async function execute(
  handle: Handle,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<number> {
  const result: { changes: number } | { rowCount: number | null } = await handle.raw(sql, [...bindings]);
  return 'changes' in result ? result.changes : (result.rowCount ?? 0);
}

/**
 * Condition that a column contains a text, case-sensitive. `column` is SQL, not input. On PostgreSQL `ilike` takes
 * three times as long.
 */
export function containing({ dialect }: Handle, column: string, text: string): Sql {
  return { sql: `${dialect.position}(${column}, ?) > 0`, bindings: [text] };
}

/**
 * Clause at the end of a `select` that locks its rows until the transaction ends. `for update` precedes changes of the
 * rows. `for update skip locked` skips rows leased by other workers. `for key share` precedes inserts that refer to the
 * rows. Empty on SQLite, which has a single writer.
 */
export function rowLock(
  { dialect }: Handle,
  lock: 'for update' | 'for update skip locked' | 'for no key update' | `for key share of ${string}`,
): string {
  return dialect.name === 'postgres' ? ` ${lock}` : '';
}
