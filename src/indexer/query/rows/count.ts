import type { QueryDatabase } from '../database.ts';
import { isOneRange, TABLES } from '../entities.ts';
import type { RowsQuery } from '../query.ts';
import { selectsOf } from './selects.ts';
import { BOUND, statementOf } from './statement-cache.ts';

/** How many rows match, counted to one beyond the cap. */
export function countOf(db: QueryDatabase, query: RowsQuery): number {
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
