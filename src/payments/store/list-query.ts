import type { Tables } from 'knex/types/tables.js';
import { type Binding, exactInteger } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { ComputedColumns } from '../tables/computed-columns.ts';

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
interface ListQuery<Table extends keyof Tables> {
  readonly table: Table;
  readonly where: Sql;
  /** Such as `created_at desc, id desc`. */
  readonly order: string;
  /** The column of the order, beside the id, when no index has this order. */
  readonly unindexed?: keyof Tables[Table] & string;
}

/**
 * One page of a list; a page beyond its end is empty. It is SQL text: the builder would make it no shorter, and takes
 * 34 to 42 µs for each of its statements.
 */
export async function paged<Table extends keyof Tables, T>(
  handle: Handle,
  query: ListQuery<Table>,
  { page, limit }: Page,
  recordOf: (row: Tables[Table]) => T,
): Promise<ListPage<T>> {
  const offset = Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER);
  const { rows, total } =
    query.unindexed === undefined
      ? await indexedPage(handle, query, { limit, offset })
      : await countedPage(handle, query, { limit, offset });
  return { data: rows.map(recordOf), total, hasMore: offset + rows.length < total };
}

/** Rows of a page, and the number of rows of the whole list. */
interface CountedRows<Row> {
  readonly rows: Row[];
  readonly total: number;
}

/** A page of an index: it is found without the rest of the list, which is counted apart. */
async function indexedPage<Table extends keyof Tables>(
  handle: Handle,
  { table, where, order }: ListQuery<Table>,
  { limit, offset }: { limit: number; offset: number },
): Promise<CountedRows<Tables[Table]>> {
  // The ids come from an index that covers condition and order; only rows that are shown are then read.
  const rows = await rowsOf<Tables[Table]>(
    handle,
    `select * from ${table} where id in (
       select id from ${table} where ${where.sql} order by ${order} limit ? offset ?
     ) order by ${order}`,
    [...where.bindings, limit, offset],
  );
  // Rows that do not fill their page end the list, so it need not be gone through again.
  const endsHere = rows.length < limit && (rows.length > 0 || offset === 0);
  return { rows, total: endsHere ? offset + rows.length : await countOf(handle, table, where) };
}

/** A page that is found by sorting the whole list, which is gone through once and counted by that. */
async function countedPage<Table extends keyof Tables>(
  handle: Handle,
  { table, where, order, unindexed }: ListQuery<Table>,
  { limit, offset }: { limit: number; offset: number },
): Promise<CountedRows<Tables[Table]>> {
  const rows = await rowsOf<Tables[Table] & Pick<ComputedColumns, 'total'>>(
    handle,
    `with found as materialized (select id, ${unindexed} from ${table} where ${where.sql})
     select *, (select count(*) from found) as total from ${table} where id in (
       select id from found order by ${order} limit ? offset ?
     ) order by ${order}`,
    [...where.bindings, limit, offset],
  );
  const [first] = rows;
  if (first === undefined && offset > 0) return { rows, total: await countOf(handle, table, where) };
  return { rows, total: exactInteger(first?.total ?? 0) };
}

/** How many rows of a table a condition holds for. */
export async function countOf(handle: Handle, table: keyof Tables, where: Sql): Promise<number> {
  const [row] = await rowsOf<Pick<ComputedColumns, 'total'>>(
    handle,
    `select count(*) as total from ${table} where ${where.sql}`,
    where.bindings,
  );
  return exactInteger(row?.total);
}

/** The condition that a row is of an organization and mode. */
export function ownedBy({ organizationId, mode }: Owner): Sql {
  return { sql: 'organization_id = ? and mode = ?', bindings: [organizationId, mode] };
}

/** The condition that a row is the one with this id, of an organization and mode. */
export function oneOf(owner: Owner, id: string): Sql {
  return allOf([ownedBy(owner), { sql: 'id = ?', bindings: [id] }]);
}

/** Columns of the record that `oneOf` means, for knex's builder. */
export function keyOf({ organizationId, mode }: Owner, id: string) {
  return { id, organization_id: organizationId, mode };
}

/** The condition that all of these hold; undefined ones are filters that were not asked for. */
export function allOf(conditions: readonly (Sql | undefined)[]): Sql {
  const asked = conditions.filter(condition => condition !== undefined);
  if (asked.length === 0) return { sql: '1 = 1', bindings: [] };
  return {
    sql: asked.map(({ sql }) => `(${sql})`).join(' and '),
    bindings: asked.flatMap(({ bindings }) => bindings),
  };
}

/** The condition on a value that may be a filter; undefined when the filter was not asked for. */
export function given(sql: string, value: Binding | undefined): Sql | undefined {
  return value === undefined ? undefined : { sql, bindings: [value] };
}

/** What `(organization_id, mode) in …` compares with: the owners of these records, each once. */
export function ownersOf(records: readonly Owner[]): Sql {
  const owners = new Map(
    records.map(({ organizationId, mode }) => [
      JSON.stringify([organizationId, mode]),
      [organizationId, mode],
    ]),
  );
  const values = Array.from(owners, () => '(?, ?)').join(', ');
  return { sql: `(values ${values})`, bindings: [...owners.values()].flat() };
}
