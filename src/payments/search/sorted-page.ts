import { type Binding, exactInteger, isUintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND, type Sql } from '../../db/query.ts';
import type { Selection } from '../../db/select/select.ts';
import type { Owner } from '../model/owner.ts';
import { allOf, countOf, type ListPage, type ListPageRequest, ownedBy } from '../store/list-query.ts';
import { select } from '../tables/select.ts';

/** Order of a list. Equal amounts are ordered by time, equal times by id, in the same direction. */
interface ListOrder {
  readonly sort: 'created_at' | 'amount';
  readonly order: 'asc' | 'desc';
}

/** Requested part of a list. With a cursor, the page is that after it, whatever `page` says. */
export interface SortedPageRequest extends ListPageRequest {
  /** Newest first when absent. */
  readonly sort?: ListOrder['sort'] | undefined;
  readonly order?: ListOrder['order'] | undefined;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
  /** False when the total is not needed, which then is 0. */
  readonly isCounted?: boolean | undefined;
}

/** A part of a list with the cursor of the next one; null on the last page. */
export interface SortedPage<T> extends ListPage<T> {
  readonly next: string | null;
}

/** Tables with these columns are listed. */
type Listed = 'checkout_sessions' | 'transactions' | 'customers' | 'unmatched_transfers';

/** One meaning of a search. */
export interface Meaning extends Sql {
  /** True when it names few records. False when it has an index of each owner's records in the order of the list. */
  readonly isOfFew?: boolean;
}

/** Columns of the orders of a list. */
interface OrderedRow {
  readonly id: string;
  readonly created_at: number;
  /** Column form of an amount; absent in lists that are not ordered by amounts. */
  readonly amount?: string;
}

interface SortedQuery<Row extends OrderedRow> {
  readonly table: Listed;
  /** Selects all columns of the table. */
  readonly selection: Selection<Row>;
  readonly owner: Owner;
  readonly filters: Sql;
  /** A record has to match one. Undefined without a search. */
  readonly found: readonly Meaning[] | undefined;
}

/**
 * Reads one page of a list. The parts of a search are read separately, because a database that gets them as one
 * condition reads all records instead of their indexes.
 * @throws CursorFault for a cursor of another order
 */
export async function sortedPage<Row extends OrderedRow, T>(
  handle: Handle,
  { table, selection, owner, filters, found = [EVERY_RECORD] }: SortedQuery<Row>,
  { page, limit, cursor, sort = 'created_at', order = 'desc', isCounted = true }: SortedPageRequest,
  recordOf: (row: Row) => T,
): Promise<SortedPage<T>> {
  const listOrder = { sort, order };
  const position = cursor === undefined ? undefined : positionOf(cursor, listOrder);
  const conditions = found.map(one => allOf([one.isOfFew ? keptBy(owner) : ownedBy(owner), one, filters]));
  const parts = await fitting(handle, table, { parts: conditions, listOrder });
  if (parts.length === 0) return { data: [], total: 0, hasMore: false, next: null };
  const offset = position === undefined ? Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) : 0;
  const after = position && beyond(position, listOrder);
  const ids = idsOf(
    table,
    parts.map(part => allOf([part, after])),
    { ...listOrder, offset, limit: limit + 1 },
  );
  const rows = await selection.rows(
    handle,
    `where id in (${ids.sql}) order by ${orderBy(listOrder)}`,
    ids.bindings,
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  const isLast = position === undefined && !hasMore && (rows.length > 0 || offset === 0);
  const count = async () => (isCounted ? countOfParts(handle, table, parts) : 0);
  return {
    data: shown.map(recordOf),
    total: isLast ? offset + rows.length : await count(),
    hasMore,
    next: hasMore && last !== undefined ? cursorOf(last, listOrder) : null,
  };
}

const EVERY_RECORD: Meaning = { sql: '1 = 1', bindings: [] };

/** The same as `ownedBy`, for which no database uses an index: it would read all records of the owner for a few. */
function keptBy({ organizationId, mode }: Owner): Sql {
  return { sql: "organization_id || '' = ? and mode || '' = ?", bindings: [organizationId, mode] };
}

/**
 * The parts that have records. A single part need not be tried. Each is tried in the order of the list: without one,
 * PostgreSQL reads the whole table for a part that it expects to have many records and that has none.
 */
async function fitting(
  handle: Handle,
  table: Listed,
  { parts, listOrder }: { readonly parts: readonly Sql[]; readonly listOrder: ListOrder },
): Promise<Sql[]> {
  if (parts.length <= 1) return [...parts];
  const tried = parts.map(
    (part, index) =>
      `select part from (select ${index} as part from ${table} where ${part.sql}
        order by ${orderBy(listOrder)} limit 1) as part_${index}`,
  );
  const rows = await select({ computed: { part: ['count', 'part'] } }).rows(
    handle,
    `from (${tried.join(' union all ')}) as tried`,
    parts.flatMap(part => part.bindings),
  );
  const found = new Set(rows.map(({ part }) => exactInteger(part)));
  return parts.filter((_, index) => found.has(index));
}

interface Range extends ListOrder {
  readonly offset: number;
  readonly limit: number;
}

/** Selects the ids of a page: of one part through its index, of several by merging the beginnings of each. */
function idsOf(table: Listed, parts: readonly Sql[], { offset, limit, ...listOrder }: Range): Sql {
  const [only] = parts;
  const order = orderBy(listOrder);
  const page = `order by ${order} limit ${BOUND} offset ${BOUND}`;
  if (parts.length === 1 && only !== undefined) {
    return {
      sql: `select id from ${table} where ${only.sql} ${page}`,
      bindings: [...only.bindings, limit, offset],
    };
  }
  const columns = columnsOf(listOrder).join(', ');
  const first = parts.map(
    (part, index) =>
      `select * from (select ${columns} from ${table} where ${part.sql} order by ${order} limit ${BOUND}) as part_${index}`,
  );
  return {
    sql: `select id from (${first.join(' union ')}) as found ${page}`,
    bindings: [...parts.flatMap(part => [...part.bindings, offset + limit]), limit, offset],
  };
}

async function countOfParts(handle: Handle, table: Listed, parts: readonly Sql[]): Promise<number> {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return countOf(handle, table, only);
  const ids = parts.map(part => `select id from ${table} where ${part.sql}`).join(' union ');
  const [row] = await select({ computed: { total: ['count', 'count(*)'] } }).rows(
    handle,
    `from (${ids}) as found`,
    parts.flatMap(part => part.bindings),
  );
  return exactInteger(row?.total);
}

function columnsOf({ sort }: ListOrder) {
  return sort === 'amount' ? (['amount', 'created_at', 'id'] as const) : (['created_at', 'id'] as const);
}

function orderBy(listOrder: ListOrder): string {
  return columnsOf(listOrder)
    .map(column => `${column} ${listOrder.order}`)
    .join(', ');
}

type Position = readonly (string | number)[];

function beyond(position: Position, listOrder: ListOrder): Sql {
  const columns = columnsOf(listOrder);
  const bindings: readonly Binding[] = position;
  return {
    sql: `(${columns.join(', ')}) ${listOrder.order === 'asc' ? '>' : '<'} (${columns.map(() => '?').join(', ')})`,
    bindings,
  };
}

/** A cursor that was not written for the order of the list. */
export class CursorFault extends Error {
  override readonly name = 'CursorFault';
  constructor(options?: ErrorOptions) {
    super('The cursor is not that of a page of this list in this order.', options);
  }
}

/** The order and the last record's values in it, as base64url of JSON. */
function cursorOf(row: OrderedRow, listOrder: ListOrder): string {
  const values = columnsOf(listOrder).map(column => row[column]);
  return Buffer.from(JSON.stringify([listOrder.sort, listOrder.order, ...values])).toString('base64url');
}

function positionOf(cursor: string, { sort, order }: ListOrder): Position {
  const [ofSort, inOrder, ...values] = partsOf(cursor);
  const columns = columnsOf({ sort, order });
  if (ofSort !== sort || inOrder !== order || values.length !== columns.length) throw new CursorFault();
  return columns.map((column, index) => {
    const value = values[index];
    if (!isValueOf(column, value)) throw new CursorFault();
    return value;
  });
}

/** True for a value in the form of the column. PostgreSQL fails to compare others, such as text with NUL. */
function isValueOf(column: keyof OrderedRow, value: unknown): value is string | number {
  if (column === 'created_at') return Number.isSafeInteger(value);
  if (typeof value !== 'string') return false;
  return column === 'amount' ? isUintColumn(value) : /^\w{1,64}$/.test(value);
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch (cause) {
    throw new CursorFault({ cause });
  }
}
