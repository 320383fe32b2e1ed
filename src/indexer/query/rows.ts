import { BOUND } from '#db/query.ts';
import type { Entity, RowSelection } from '../../query-model/row-selection.ts';
import { columnOf, ENTITIES, joinsOf, type RecordColumn, recordColumns } from './columns.ts';
import { isInKeyOrder, type Storage } from './filters.ts';
import { indexWalk } from './index-walk.ts';
import { MAX_CHARACTERS, QueryTooLarge, type RowsQuery } from './query.ts';
import type { QueryDialect, QuerySession, SqlText } from './query-dialect.ts';
import { isOneRange, type SelectionOptions, selectionOf } from './selection.ts';

/** Value of a row. Integers of up to 64 bits are bigints, longer ones decimal digits; hex is lower-case text. */
export type Cell = bigint | string | null;

/** Page as it is passed between threads: field names once, then values in their order. */
export interface PackedRows {
  readonly fields: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly total: number;
  readonly isCapped: boolean;
}

/** Creates a reader of pages with their total number. Both are from one snapshot if the session is a transaction. */
export function rowsReader(dialect: QueryDialect) {
  const records: Readonly<Record<Entity, readonly RecordColumn[]>> = {
    blocks: recordColumns('blocks', dialect),
    transactions: recordColumns('transactions', dialect),
    events: recordColumns('events', dialect),
  };
  return async (session: QuerySession, query: RowsQuery): Promise<PackedRows> => {
    const columns = records[query.entity];
    const rows = query.limit === 0 ? [] : await pageOf(session, query, columns);
    return {
      fields: columns.map(({ field }) => field),
      rows,
      ...(await totalOf(session, query, rows.length)),
    };
  };
}

/**
 * Reads the rows of a page. The statement first selects their keys and then joins the rows.
 * @throws QueryTooLarge when the rows are too long
 */
async function pageOf(
  session: QuerySession,
  query: RowsQuery,
  columns: readonly RecordColumn[],
): Promise<Cell[][]> {
  const { dialect } = session;
  const rows: Cell[][] = [];
  let characters = 0;
  const { sql, bindings } = pageStatement(query, { dialect, columns: columns.map(column => column.sql) });
  await session.each({ sql, bindings: [...bindings, BigInt(query.limit), BigInt(query.offset)] }, row => {
    for (const value of row) characters += typeof value === 'string' ? value.length : 0;
    if (characters > MAX_CHARACTERS) throw new QueryTooLarge('page');
    rows.push(columns.map(({ storage }, index) => cellOf(storage, row[index], dialect)));
  });
  return rows;
}

/**
 * Converts a driver's value by its column.
 * @throws TypeError for a type that such a column never holds
 */
function cellOf(storage: Storage, value: unknown, { digitsOf }: QueryDialect): Cell {
  if (value === null || typeof value === 'bigint') return value;
  if (typeof value === 'string') return storage === 'uint256' ? digitsOf(value) : value;
  throw new TypeError(`A column of kind ${storage} gave ${typeof value}.`);
}

function pageStatement(
  query: RowsQuery,
  { dialect, columns }: { dialect: QueryDialect; columns: readonly string[] },
): SqlText {
  const { sql, bindings } = keysOf(query, dialect);
  const page = `select ${columns.join(', ')} from (${sql}) p ${joinsOf(query.entity, dialect)}`;
  return { sql: dialect.keepsOrder ? page : `${page} order by ${orderOf(query, 'p.')}`, bindings };
}

function orderOf(query: RowsQuery, of = ''): string {
  const { order } = query.sort;
  const byKey = `${of}id ${order}`;
  return isInKeyOrder(query.sort.field) ? byKey : `${of}sorted ${order} nulls last, ${byKey}`;
}

/** Statement for the keys of the rows in order. Ends with placeholders for limit and offset. */
export function keysOf(query: RowsQuery, dialect: QueryDialect): SqlText {
  const { entity, sort } = query;
  const order = { sql: orderOf(query), direction: sort.order, isByKey: isInKeyOrder(sort.field) };
  const sorted = order.isByKey ? '' : `, ${columnOf(entity, sort.field, dialect).sql} as sorted`;
  // Rows in the order of an index are read one by one. Sorted rows are kept only as far as the page needs them.
  const isBounded = !(order.isByKey && dialect.mergesUnions);
  const names = order.isByKey || dialect.keepsOrder ? 'id' : 'id, sorted';
  const { sql, bindings } = selectsOf(query, {
    dialect,
    columns: `${ENTITIES[entity].key} as id${sorted}`,
    order,
    first: isBounded ? BigInt(query.limit) + BigInt(query.offset) : undefined,
  });
  return { sql: `select ${names} from (${sql} limit ${BOUND} offset ${BOUND}) k`, bindings };
}

/**
 * Total number of rows. The last page gives it without a query. Counting takes time per row and stops above the cap.
 */
async function totalOf(session: QuerySession, query: RowsQuery, shown: number) {
  const { limit, offset, countUpTo } = query;
  const isLastPage = shown < limit && (shown > 0 || offset === 0);
  const total = isLastPage ? offset + shown : await countOf(session, query);
  return { total: Math.min(total, countUpTo), isCapped: total > countUpTo };
}

/** Number of matching rows, counted to one above the cap. */
async function countOf(session: QuerySession, query: RowsQuery): Promise<number> {
  let count = 0;
  await session.each(countingOf(query, session.dialect), ([value]) => {
    count = Number(value);
  });
  return count;
}

/** Statement that counts rows. */
export function countingOf(query: RowsQuery, dialect: QueryDialect): SqlText {
  const { entity, wallet, countUpTo } = query;
  const rows = BigInt(countUpTo) + 1n;
  const { sql, bindings } = selectsOf(query, {
    dialect,
    columns: `${ENTITIES[entity].key} as id`,
    isShort: isOneRange(query),
    // The two sides of a wallet are merged without a sort only when they are ordered.
    order: wallet === undefined && !dialect.walksAllValues ? undefined : NEWEST,
    first: dialect.mergesUnions ? undefined : rows,
  });
  return { sql: `select count(*) from (${sql} limit ${BOUND}) k`, bindings: [...bindings, rows] };
}

interface Order {
  readonly sql: string;
  readonly direction: 'asc' | 'desc';
  readonly isByKey: boolean;
}

const NEWEST: Order = { sql: 'id desc', direction: 'desc', isByKey: true };

interface SelectsOptions extends SelectionOptions {
  readonly columns: string;
  readonly order: Order | undefined;
  /** Maximum rows needed from each side of a wallet. */
  readonly first: bigint | undefined;
}

/**
 * Statement that selects `columns` of the selected rows in an order, before a limit is appended.
 * A wallet selects the transactions it sent and received, as a union without duplicates, so that each side uses its own
 * index.
 */
function selectsOf(selected: RowSelection, options: SelectsOptions): SqlText {
  const { wallet, ...others } = selected;
  if (wallet === undefined) return selectOf(selected, options);
  const { order, first } = options;
  const sides = ['from_address', 'to_address'].map(field => {
    const side = {
      ...others,
      filters: [...others.filters, { field, operator: 'eq', value: wallet } as const],
    };
    if (first === undefined) return selectOf(side, { ...options, order: undefined, isShort: false });
    const { sql, bindings } = selectOf(side, { ...options, isShort: false });
    return {
      sql: `select * from (${sql} limit ${BOUND}) by_${field}`,
      bindings: [...bindings, first],
    };
  });
  return {
    sql: `${sides.map(({ sql }) => sql).join(' union ')}${order === undefined ? '' : ` order by ${order.sql}`}`,
    bindings: sides.flatMap(({ bindings }) => bindings),
  };
}

/** Statement for a selection without a wallet. */
function selectOf(selected: RowSelection, { columns, order, ...options }: SelectsOptions): SqlText {
  const { where, bindings, ...walk } = order?.isByKey
    ? indexWalk(selected, options)
    : { ...selectionOf(selected, options), columns: [] };
  const sql = `select ${columns} from ${ENTITIES[selected.entity].from} where ${where}`;
  if (order === undefined) return { sql, bindings };
  const first = walk.columns.map(column => `${column} ${order.direction}, `).join('');
  return { sql: `${sql} order by ${first}${order.sql}`, bindings };
}
