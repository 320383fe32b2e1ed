import { keepingStatements } from '../../db/kept-statements.ts';
import type { QueryDatabase } from './database.ts';
import { allOf, columnOf, conditionsOf, isOneRange, selectionOf, TABLES } from './entities.ts';
import { filterValue } from './filters.ts';
import { MOST_CHARACTERS } from './functions.ts';
import { type Entity, QueryTooLarge, type RowSelection, type RowsQuery } from './query.ts';
import { type Cell, cellOf, JOINED, type RecordColumn, recordColumns } from './record-columns.ts';

/** A page as it goes from thread to thread: names once, then values in their order. */
export interface PackedRows {
  readonly fields: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly total: number;
  readonly isCapped: boolean;
}

const RECORDS: Readonly<Record<Entity, readonly RecordColumn[]>> = {
  blocks: recordColumns('blocks'),
  transactions: recordColumns('transactions'),
  events: recordColumns('events'),
};

/** A page of rows with their number, both of one moment if the caller has a transaction open. */
export function rowsOf(db: QueryDatabase, query: RowsQuery): PackedRows {
  const columns = RECORDS[query.entity];
  const rows = query.limit === 0 ? [] : pageOf(db, query, columns);
  return { fields: columns.map(({ field }) => field), rows, ...totalOf(db, query, rows.length) };
}

/** Looks up only the rows of the page, after their keys were found. @throws QueryTooLarge when they are too long. */
function pageOf(db: QueryDatabase, query: RowsQuery, columns: readonly RecordColumn[]): Cell[][] {
  const { sql, bindings } = keysOf(query);
  const shown = columns.map(column => column.sql).join(', ');
  const page = statementOf(db, `select ${shown} from (${sql}) p ${JOINED[query.entity]}`);
  const rows: Cell[][] = [];
  let characters = 0;
  for (const row of page.iterate(...bindings, BigInt(query.limit), BigInt(query.offset))) {
    if (!Array.isArray(row)) throw new TypeError('The SQLite driver gave no array.');
    for (const value of row) characters += typeof value === 'string' ? value.length : 0;
    if (characters > MOST_CHARACTERS) throw new QueryTooLarge('page');
    rows.push(columns.map(({ storage }, index) => cellOf(storage, row[index])));
  }
  return rows;
}

/** Fields in whose order the keys are: time only goes on, and a chain has one id. */
const IN_ORDER_OF_KEYS = ['chain_id', 'block_number', 'block_timestamp'];

/** Descending, SQLite puts nulls last by itself. */
const DIRECTIONS = {
  asc: { id: 'asc', value: 'asc nulls last' },
  desc: { id: 'desc', value: 'desc' },
} as const;

/** Keys of the rows in their order, with question marks for limit and offset at the end. */
export function keysOf(query: RowsQuery): { sql: string; bindings: unknown[] } {
  const { entity, sort } = query;
  const isByKey = IN_ORDER_OF_KEYS.includes(sort.field);
  const columns = `${TABLES[entity].key} as id${isByKey ? '' : `, ${columnOf(entity, sort.field).sql} as sorted`}`;
  const { id, value } = DIRECTIONS[sort.order];
  const order = `${isByKey ? '' : `sorted ${value}, `}id ${id}`;
  // Rows in the order of an index come one by one; what has to be sorted, SQLite holds only as much of as it may show.
  const selects = selectsOf(query, { columns, ...(isByKey ? {} : { first: { order, rows: endOf(query) } }) });
  return {
    sql: `select id from (${selects.sql} order by ${order} limit ${BOUND} offset ${BOUND})`,
    bindings: selects.bindings,
  };
}

function endOf({ limit, offset }: RowsQuery): bigint {
  return BigInt(limit) + BigInt(offset);
}

/** A row costs a step to count, so they are not counted beyond the cap; the last page tells by itself. */
function totalOf(db: QueryDatabase, query: RowsQuery, shown: number) {
  const { limit, offset, countUpTo } = query;
  const isLastPage = shown < limit && (shown > 0 || offset === 0);
  const total = isLastPage ? offset + shown : countOf(db, query);
  return { total: Math.min(total, countUpTo), isCapped: total > countUpTo };
}

/** How many rows match, counted to one beyond the cap. */
function countOf(db: QueryDatabase, query: RowsQuery): number {
  const { sql, bindings } = countingOf(query);
  const row = statementOf(db, sql).get(...bindings);
  return Array.isArray(row) ? Number(row[0]) : 0;
}

/** The statement that counts. */
export function countingOf(query: RowsQuery): { sql: string; bindings: unknown[] } {
  const { entity, wallet, countUpTo } = query;
  const { sql, bindings } = selectsOf(query, {
    columns: `${TABLES[entity].key} as id`,
    isShort: isOneRange(query),
  });
  // Only in an order are the two sides of a wallet merged as they come.
  const order = wallet === undefined ? '' : ' order by id desc';
  return {
    sql: `select count(*) from (${sql}${order} limit ${BOUND})`,
    bindings: [...bindings, BigInt(countUpTo) + 1n],
  };
}

/**
 * What selects `columns` of the rows that are meant, to be followed by an order and a limit. A wallet's are those it
 * sent and those it received: as a union in an order, SQLite merges the two as they come, each row once, and goes no
 * further than the limit. `first` is how far each of the two is needed at most, in which order. `isShort` is of a walk
 * that need not be ended before its limit.
 */
function selectsOf(
  selected: RowSelection,
  {
    columns,
    first,
    isShort,
  }: { columns: string; first?: { order: string; rows: bigint }; isShort?: boolean },
): { sql: string; bindings: unknown[] } {
  const { from } = TABLES[selected.entity];
  const { wallet } = selected;
  if (wallet === undefined) {
    const { where, bindings } = selectionOf(selected, isShort);
    return { sql: `select ${columns} from ${from} where ${where}`, bindings };
  }
  const sides = ['t.from_address = ?', 't.to_address = ?'].map(sql => {
    const wallets = { sql, bindings: [filterValue('blob', wallet)] };
    const { where, bindings } = allOf([...conditionsOf(selected), wallets]);
    const side = `select ${columns} from ${from} where ${where}`;
    if (first === undefined) return { sql: side, bindings };
    return {
      sql: `select * from (${side} order by ${first.order} limit ${BOUND})`,
      bindings: [...bindings, first.rows],
    };
  });
  return {
    sql: sides.map(({ sql }) => sql).join(' union '),
    bindings: sides.flatMap(({ bindings }) => bindings),
  };
}

/**
 * A question mark for a limit or an offset. SQLite plans by the value of a bare one, and compiles the statement anew each
 * time that it is given: that takes as long as reading a page.
 */
const BOUND = 'cast(? as integer)';

type Prepare = (sql: string) => ReturnType<QueryDatabase['prepare']>;

/** Texts differ only by entity, fields and operators, so few are in use at a time. */
const preparing = new WeakMap<QueryDatabase, Prepare>();

/** A statement prepared once for a connection, which gives rows as arrays. */
function statementOf(db: QueryDatabase, sql: string): ReturnType<Prepare> {
  const prepare = preparing.get(db) ?? keepingStatements(text => db.prepare(text).raw());
  preparing.set(db, prepare);
  return prepare(sql);
}
