import { exactInteger } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';

/** Which part of a list is wanted; the first page is 1. */
export interface Page {
  readonly page: number;
  readonly limit: number;
}

/** A part of a list, and how long the whole list is. */
export interface ListPage<T> {
  readonly data: T[];
  readonly total: number;
  readonly hasMore: boolean;
}

/** Rows of a table with a text column `id`, in an order that no two rows share. All but the bindings is SQL, not input. */
export interface ListQuery {
  readonly table: string;
  readonly where: Sql;
  /** Such as `created_at desc, id desc`. */
  readonly order: string;
}

/** One page of a list; a page beyond its end is empty. */
export async function paged<Row, T>(
  handle: Handle,
  { table, where, order }: ListQuery,
  { page, limit }: Page,
  recordOf: (row: Row) => T,
): Promise<ListPage<T>> {
  const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
  // The ids come from an index that covers condition and order; only rows that are shown are then read.
  const rows = await rowsOf<Row>(
    handle,
    `select * from ${table} where id in (
       select id from ${table} where ${where.sql} order by ${order} limit ? offset ?
     ) order by ${order}`,
    [...where.bindings, limit, offset],
  );
  // Rows that do not fill their page end the list, so it need not be gone through again.
  const endsHere = rows.length < limit && (rows.length > 0 || offset === 0);
  const total = endsHere ? offset + rows.length : await countOf(handle, table, where);
  return { data: rows.map(recordOf), total, hasMore: offset + rows.length < total };
}

/** How many rows of a table a condition holds for. */
export async function countOf(handle: Handle, table: string, where: Sql): Promise<number> {
  const [row] = await rowsOf<{ total: number | string }>(
    handle,
    `select count(*) as total from ${table} where ${where.sql}`,
    where.bindings,
  );
  return exactInteger(row?.total);
}
