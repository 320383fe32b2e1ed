import {
  allOf,
  columnOf,
  conditionsOf,
  isOneRange,
  type SelectionOptions,
  selectionOf,
  TABLES,
} from './entities.ts';
import { filterValue } from './filters.ts';
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
  const sorted = isByKey(query) ? '' : `, ${columnOf(entity, sort.field, dialect).sql} as sorted`;
  const order = orderOf(query);
  // Rows in the order of an index come one by one; what has to be sorted is held only as far as it may show.
  const isBounded = !(isByKey(query) && dialect.mergesUnions);
  const selects = selectsOf(query, {
    dialect,
    columns: `${TABLES[entity].key} as id${sorted}`,
    ...(isBounded ? { first: { order, rows: endOf(query) } } : {}),
  });
  return {
    sql: `select ${dialect.keepsOrder ? 'id' : '*'} from (${selects.sql} order by ${order} limit ${BOUND} offset ${BOUND}) k`,
    bindings: selects.bindings,
  };
}

function endOf({ limit, offset }: RowsQuery): bigint {
  return BigInt(limit) + BigInt(offset);
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
  const order = 'id desc';
  const { sql, bindings } = selectsOf(query, {
    dialect,
    columns: `${TABLES[entity].key} as id`,
    isShort: isOneRange(query),
    ...(dialect.mergesUnions ? {} : { first: { order, rows } }),
  });
  // Only in an order are the two sides of a wallet merged as they come.
  const ordered = wallet === undefined ? '' : ` order by ${order}`;
  return { sql: `select count(*) from (${sql}${ordered} limit ${BOUND}) k`, bindings: [...bindings, rows] };
}

/**
 * What selects `columns` of the rows that are meant, to be followed by an order and a limit. A wallet's are those it
 * sent and those it received: as a union, which has each row once, so that either side is found by its own index. `first`
 * is how far each of the two is needed at most, in which order.
 */
function selectsOf(
  selected: RowSelection,
  {
    columns,
    first,
    ...options
  }: SelectionOptions & { columns: string; first?: { order: string; rows: bigint } },
): { sql: string; bindings: unknown[] } {
  const { from } = TABLES[selected.entity];
  const { wallet } = selected;
  if (wallet === undefined) {
    const { where, bindings } = selectionOf(selected, options);
    return { sql: `select ${columns} from ${from} where ${where}`, bindings };
  }
  const sides = ['from_address', 'to_address'].map(name => {
    const wallets = { sql: `t.${name} = ?`, bindings: [filterValue('blob', wallet)] };
    const { where, bindings } = allOf([...conditionsOf(selected, { dialect: options.dialect }), wallets]);
    const side = `select ${columns} from ${from} where ${where}`;
    if (first === undefined) return { sql: side, bindings };
    return {
      sql: `select * from (${side} order by ${first.order} limit ${BOUND}) by_${name}`,
      bindings: [...bindings, first.rows],
    };
  });
  return {
    sql: sides.map(({ sql }) => sql).join(' union '),
    bindings: sides.flatMap(({ bindings }) => bindings),
  };
}

/**
 * A question mark for a limit or an offset. SQLite plans by the value of a bare one, and compiles the statement again each
 * time that it is given: that takes as long as reading a page.
 */
const BOUND = 'cast(? as bigint)';
