import type { QueryDatabase } from '../database.ts';
import { columnOf, TABLES } from '../entities.ts';
import { MOST_CHARACTERS } from '../functions.ts';
import { type Entity, QueryTooLarge, type RowsQuery } from '../query.ts';
import { countOf } from './count.ts';
import { type Cell, cellOf, JOINED, type RecordColumn, recordColumns } from './record-columns.ts';
import { selectsOf } from './selects.ts';
import { BOUND, statementOf } from './statement-cache.ts';

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
