import type { Tables } from 'knex/types/tables.js';
import type { Binding, Column } from './columns.ts';
import type { Handle } from './open.ts';
import { execute, type Sql } from './query.ts';

/** What is written, by column. The names are SQL, not input. */
export type Values = Readonly<Record<string, Binding>>;

/** Values of a declared table's columns. */
type ColumnValues<Table extends keyof Tables> = Readonly<Partial<Tables[Table]>>;

/** Inserts one row. */
export async function insertRow<Table extends keyof Tables>(
  handle: Handle,
  table: Table,
  values: Values & ColumnValues<Table>,
): Promise<void> {
  const columns = Object.keys(values);
  await execute(
    handle,
    `insert into ${table} (${columns.join(', ')}) values (${placeholders(columns.length)})`,
    Object.values(values),
  );
}

/** SQLite refuses a statement with more parameters than this (SQLITE_MAX_VARIABLE_NUMBER). */
const MAX_PARAMETERS = 32_000;

/**
 * Inserts rows given as arrays in the order of `columns`, many to a statement: knex's builder spends
 * several times as long on the same rows. `suffix` is for an `on conflict` clause.
 */
export async function insertRows(
  handle: Handle,
  into: { table: string; columns: readonly string[]; suffix?: string },
  rows: readonly (readonly Column[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const rowsPerStatement = Math.floor(MAX_PARAMETERS / into.columns.length);
  const one = `(${into.columns.map(() => '?').join(',')})`;
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const part = rows.slice(start, start + rowsPerStatement);
    const values = part.map(() => one).join(',');
    const sql = `insert into ${into.table} (${into.columns.join(',')}) values ${values} ${into.suffix ?? ''}`;
    await handle.raw(sql, part.flat());
  }
}

/** Writes these columns of all rows that a condition holds for; answers with the number of rows. */
export async function updateRows<Table extends keyof Tables>(
  handle: Handle,
  table: Table,
  values: Values & ColumnValues<Table>,
  where: Sql,
): Promise<number> {
  const columns = Object.keys(values).map(column => `${column} = ?`);
  return execute(handle, `update ${table} set ${columns.join(', ')} where ${where.sql}`, [
    ...Object.values(values),
    ...where.bindings,
  ]);
}

/** `?,?,?` for an `in (…)` of so many values. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(',');
}
