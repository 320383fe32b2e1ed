import { keepingStatements } from '#db/kept-statements.ts';
import type { Engine } from '../engine.ts';
import type { QuerySession } from '../query-dialect.ts';
import { rowsReader } from '../rows.ts';
import { openQueryDatabase, type QueryDatabase } from './database.ts';
import { registerFunctions } from './functions.ts';
import { groupsOf } from './groups.ts';
import { sqliteQueries } from './sqlite-dialect.ts';

const rowsOf = rowsReader(sqliteQueries);

/** Opens a file that exists. `tick` is called every few thousand rows and may throw to end a query. */
export function openSqliteEngine(options: { file: string; cacheBytes?: number; tick: () => void }): Engine {
  const db = openQueryDatabase(options);
  const lists = registerFunctions(db);
  const session = sessionOf(db);
  return {
    async run(query) {
      // In one transaction, so that a page and the number of rows are of one moment.
      db.exec('begin');
      try {
        return await (query.kind === 'rows' ? rowsOf(session, query) : groupsOf(session, query, lists));
      } finally {
        db.exec('rollback');
        // Several indexes share a thread's memory, and what one of them has cached is of no use to the others.
        if (query.kind === 'groups') db.pragma('shrink_memory');
      }
    },
    // A statement asks `tick` itself.
    cancel: () => undefined,
    close: async () => db.close(),
  };
}

/** Texts differ only by entity, fields and operators, so few are in use at a time. */
function sessionOf(db: QueryDatabase): QuerySession {
  const prepare = keepingStatements(sql => db.prepare(sql).raw());
  return {
    dialect: sqliteQueries,
    each({ sql, bindings }, onRow) {
      for (const row of prepare(sql).iterate(...bindings)) {
        if (!Array.isArray(row)) throw new TypeError('The SQLite driver gave no array.');
        onRow(row);
      }
    },
  };
}
