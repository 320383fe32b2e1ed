import { LRUCache } from 'lru-cache';

/** Maximum number of cached statements per connection. */
const KEPT = 200;
const LONGEST_KEPT = 4_000;

/**
 * Wraps `prepare` with an LRU cache, because preparing takes longer than running most statements. SQLite itself
 * prepares a statement again when the schema has changed. Statements longer than `longest` characters are not cached:
 * they insert many rows and rarely repeat.
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
