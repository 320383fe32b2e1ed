import { keepingStatements } from '#db/sqlite-reads.ts';
import type { Engine } from '../engine.ts';
import type { QuerySession } from '../query-dialect.ts';
import { rowsReader } from '../rows.ts';
import { openQueryDatabase, type QueryDatabase } from './database.ts';
import { registerFunctions } from './functions.ts';
import { groupsOf } from './groups.ts';
import { sqliteQueries } from './sqlite-dialect.ts';

const rowsOf = rowsReader(sqliteQueries);

/** Opens an existing file. `tick` is called every few thousand rows and may throw to end a query. */
export function openSqliteEngine(options: { file: string; cacheBytes?: number; tick: () => void }): Engine {
  const db = openQueryDatabase(options);
  const lists = registerFunctions(db);
  const session = sessionOf(db);
  return {
    async run(query) {
      // One transaction, so that a page and the number of rows are from one snapshot.
      db.exec('begin');
      try {
        return await (query.kind === 'rows' ? rowsOf(session, query) : groupsOf(session, query, lists));
      } finally {
        db.exec('rollback');
        // Several indexes share a thread's memory, so this one's cache is released for the others.
        if (query.kind === 'groups') db.pragma('shrink_memory');
      }
    },
    // Statements check for cancellation through `tick`.
    cancel: () => undefined,
    close: async () => db.close(),
  };
}

/** Caches prepared statements. Texts differ only by entity, fields and operators, so few are in use at a time. */
function sessionOf(db: QueryDatabase): QuerySession {
  const prepare = keepingStatements(sql => db.prepare(sql).raw());
  return {
    dialect: sqliteQueries,
    each({ sql, bindings }, onRow) {
      for (const row of prepare(sql).iterate(...bindings)) {
        if (!Array.isArray(row)) throw new TypeError('The SQLite driver returned no array.');
        onRow(row);
      }
    },
  };
}
