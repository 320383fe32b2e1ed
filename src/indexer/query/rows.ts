import { BOUND } from '#db/query.ts';
import { columnOf, isOneRange, type SelectionOptions, selectionOf, TABLES } from './entities.ts';
import { indexWalk } from './index-walk.ts';
import { type Entity, MOST_CHARACTERS, QueryTooLarge, type RowSelection, type RowsQuery } from './query.ts';
import type { QueryDialect, QuerySession, SqlText } from './query-dialect.ts';
import { type Cell, cellOf, joinsOf, type RecordColumn, recordColumns } from './record-columns.ts';

/** A page as it goes from thread to thread: names once, then values in their order. */
export interface PackedRows {
  readonly fields: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly total: number;
  readonly isCapped: boolean;
}

/** Returns what reads pages of rows with their number. Both are of one moment if the session is a transaction. */
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

/** Looks up only the rows of the page, after their keys were found. @throws QueryTooLarge when they are too long. */
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
    if (characters > MOST_CHARACTERS) throw new QueryTooLarge('page');
    rows.push(columns.map(({ storage }, index) => cellOf(storage, row[index], dialect)));
  });
  return rows;
}

function pageStatement(
  query: RowsQuery,
  { dialect, columns }: { dialect: QueryDialect; columns: readonly string[] },
): SqlText {
  const { sql, bindings } = keysOf(query, dialect);
  const page = `select ${columns.join(', ')} from (${sql}) p ${joinsOf(query.entity, dialect)}`;
  return { sql: dialect.keepsOrder ? page : `${page} order by ${orderOf(query, 'p.')}`, bindings };
}

/** Fields in whose order the keys are: time only goes on, and a chain has one id. */
const IN_ORDER_OF_KEYS = ['chain_id', 'block_number', 'block_timestamp'];

function isByKey({ sort }: RowsQuery): boolean {
  return IN_ORDER_OF_KEYS.includes(sort.field);
}

function orderOf(query: RowsQuery, of = ''): string {
  const { order } = query.sort;
  const byKey = `${of}id ${order}`;
  return isByKey(query) ? byKey : `${of}sorted ${order} nulls last, ${byKey}`;
}

/** Keys of the rows in their order, with question marks for limit and offset at the end. */
export function keysOf(query: RowsQuery, dialect: QueryDialect): SqlText {
  const { entity, sort } = query;
  const order = { sql: orderOf(query), direction: sort.order, isByKey: isByKey(query) };
  const sorted = order.isByKey ? '' : `, ${columnOf(entity, sort.field, dialect).sql} as sorted`;
  // Rows in the order of an index come one by one; what has to be sorted is held only as far as it may show.
  const isBounded = !(order.isByKey && dialect.mergesUnions);
  const names = order.isByKey || dialect.keepsOrder ? 'id' : 'id, sorted';
  const { sql, bindings } = selectsOf(query, {
    dialect,
    columns: `${TABLES[entity].key} as id${sorted}`,
    order,
    first: isBounded ? BigInt(query.limit) + BigInt(query.offset) : undefined,
  });
  return { sql: `select ${names} from (${sql} limit ${BOUND} offset ${BOUND}) k`, bindings };
}

/** A row costs a step to count, so they are not counted beyond the cap; the last page tells by itself. */
async function totalOf(session: QuerySession, query: RowsQuery, shown: number) {
  const { limit, offset, countUpTo } = query;
  const isLastPage = shown < limit && (shown > 0 || offset === 0);
  const total = isLastPage ? offset + shown : await countOf(session, query);
  return { total: Math.min(total, countUpTo), isCapped: total > countUpTo };
}

/** How many rows match, counted to one beyond the cap. */
async function countOf(session: QuerySession, query: RowsQuery): Promise<number> {
  let count = 0;
  await session.each(countingOf(query, session.dialect), ([value]) => {
    count = Number(value);
  });
  return count;
}

/** The statement that counts. */
export function countingOf(query: RowsQuery, dialect: QueryDialect): SqlText {
  const { entity, wallet, countUpTo } = query;
  const rows = BigInt(countUpTo) + 1n;
  const { sql, bindings } = selectsOf(query, {
    dialect,
    columns: `${TABLES[entity].key} as id`,
    isShort: isOneRange(query),
    // Only in an order are the two sides of a wallet merged as they come.
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
  /** How far each side of a wallet is needed at most. */
  readonly first: bigint | undefined;
}

/**
 * What selects `columns` of the rows that are meant in an order, to be followed by a limit. A wallet's are those it sent
 * and those it received: as a union, which has each row once, so that either side is found by its own index.
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

/** The same of what has no wallet. */
function selectOf(selected: RowSelection, { columns, order, ...options }: SelectsOptions): SqlText {
  const { where, bindings, ...walk } = order?.isByKey
    ? indexWalk(selected, options)
    : { ...selectionOf(selected, options), columns: [] };
  const sql = `select ${columns} from ${TABLES[selected.entity].from} where ${where}`;
  if (order === undefined) return { sql, bindings };
  const first = walk.columns.map(column => `${column} ${order.direction}, `).join('');
  return { sql: `${sql} order by ${first}${order.sql}`, bindings };
}
