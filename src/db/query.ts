import type { Binding } from './columns.ts';
import type { Handle } from './open.ts';

/** A piece of SQL and what is bound to it. */
export interface Sql {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/**
 * The rows that a statement gives (`select`, or anything with `returning`), alike on both databases. Outside a
 * transaction a read sees what is committed and waits for no transaction. Reads are text because knex's builder writes one
 * in 13 µs and more, about as long as SQLite takes to run it.
 */
export async function rowsOf<Row>(
  handle: Handle,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<Row[]> {
  const rows = handle.isTransaction ? undefined : handle.reads?.rowsOf<Row>(sql, bindings);
  if (rows !== undefined) return rows;
  // What knex hands on is the driver's: SQLite's is the rows, PostgreSQL's has them.
  const result = await handle.raw(sql, [...bindings]);
  return Array.isArray(result) ? result : result.rows;
}

/**
 * A question mark for a limit or an offset. SQLite plans by the value of a bare one, and compiles the statement again each
 * time that it is given: that takes as long as reading a page.
 */
export const BOUND = 'cast(? as bigint)';

/** Runs an `insert`, `update` or `delete` without `returning`; answers with the number of rows it changed. */
export async function execute(
  handle: Handle,
  sql: string,
  bindings: readonly Binding[] = [],
): Promise<number> {
  const result: { changes: number } | { rowCount: number | null } = await handle.raw(sql, [...bindings]);
  return 'changes' in result ? result.changes : (result.rowCount ?? 0);
}

/**
 * The condition that a column contains exactly a text. `column` is SQL, not input. PostgreSQL takes three times as long
 * for `ilike`.
 */
export function containing({ dialect }: Handle, column: string, text: string): Sql {
  return { sql: `${dialect.position}(${column}, ?) > 0`, bindings: [text] };
}

/**
 * What stands at the end of a `select` so that its rows stay as they are until the transaction ends: for whoever
 * changes them, `for update skip locked` for a worker that leaves out what another one has taken, or `for key share` for whoever inserts rows that refer to them. SQLite has but one writer.
 */
export function rowLock(
  { dialect }: Handle,
  lock: 'for update' | 'for update skip locked' | 'for no key update' | `for key share of ${string}`,
): string {
  return dialect.name === 'postgres' ? ` ${lock}` : '';
}
