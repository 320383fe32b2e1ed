import { LRUCache } from 'lru-cache';

/** How many statements a connection keeps, and how long the longest is. */
const KEPT = 200;
const LONGEST_KEPT = 4_000;

/**
 * Makes a `prepare` keep what it has prepared, the statements used last first: preparing takes longer than most
 * statements run. SQLite itself prepares a statement again when the schema has changed. One that is longer than `longest`
 * characters is not kept: it inserts many rows, and is rarely sent again.
 */
export function keepingStatements<Statement extends object>(
  prepare: (sql: string) => Statement,
  longest = LONGEST_KEPT,
): (sql: string) => Statement {
  const kept = new LRUCache<string, Statement>({ max: KEPT });
  return sql => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const statement = prepare(sql);
    if (sql.length <= longest) kept.set(sql, statement);
    return statement;
  };
}
