import { LRUCache } from 'lru-cache';
import type { QueryDatabase } from '../database.ts';

type Statement = ReturnType<QueryDatabase['prepare']>;

/** Texts differ only by entity, fields and operators, so few are in use at a time. */
const KEPT = 200;
const kept = new WeakMap<QueryDatabase, LRUCache<string, Statement>>();

/**
 * A question mark for a limit or an offset. SQLite plans by the value of a bare one, and compiles the statement anew each
 * time that it is given: that takes as long as reading a page.
 */
export const BOUND = 'cast(? as integer)';

/** A statement prepared once for a connection, which gives rows as arrays. */
export function statementOf(db: QueryDatabase, sql: string): Statement {
  const statements = kept.get(db) ?? new LRUCache<string, Statement>({ max: KEPT });
  kept.set(db, statements);
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const statement = db.prepare(sql).raw();
  statements.set(sql, statement);
  return statement;
}
