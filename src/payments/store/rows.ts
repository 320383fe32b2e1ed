import type { Binding } from '../../db/columns.ts';
import { placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import { execute, type Sql } from '../../db/query.ts';

/** What is written, by column. The names are SQL, not input. */
export type Values = Readonly<Record<string, Binding>>;

/** Inserts one row. */
export async function insertRow(handle: Handle, table: string, values: Values): Promise<void> {
  const columns = Object.keys(values);
  await execute(
    handle,
    `insert into ${table} (${columns.join(', ')}) values (${placeholders(columns.length)})`,
    Object.values(values),
  );
}

/** Writes these columns of all rows that a condition holds for; answers with the number of rows. */
export async function updateRows(handle: Handle, table: string, values: Values, where: Sql): Promise<number> {
  const columns = Object.keys(values).map(column => `${column} = ?`);
  return execute(handle, `update ${table} set ${columns.join(', ')} where ${where.sql}`, [
    ...Object.values(values),
    ...where.bindings,
  ]);
}

/** The value that `jsonColumn` wrote: what is in such a column was checked before it was stored. */
export function storedJson<T>(column: string): T {
  return JSON.parse(column);
}
