import Database from 'better-sqlite3';
import { keepingStatements } from '#db/sqlite-reads.ts';
import type { SerialEngine } from '../engine.ts';
import type { QuerySession } from '../query-dialect.ts';
import { rowsReader } from '../rows.ts';
import { registerFunctions } from './functions.ts';
import { sqliteGroups } from './groups.ts';
import { sqliteQueries } from './sqlite-dialect.ts';

const rowsOf = rowsReader(sqliteQueries);

/** Opens an existing file. `tick` is called every few thousand rows and may throw to end a query. */
export function openSqliteEngine(options: {
  file: string;
  cacheBytes?: number;
  tick: () => void;
}): SerialEngine {
  const db = openQueryDatabase(options);
  const lists = registerFunctions(db);
  const session = sessionOf(db);
  return {
    async run(query) {
      // One transaction, so that a page and the number of rows are from one snapshot.
      db.exec('begin');
      try {
        return await (query.kind === 'rows' ? rowsOf(session, query) : sqliteGroups(session, query, lists));
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

/** Read-only connection to an index. Integers are returned as bigints. */
export type QueryDatabase = Database;

/**
 * Opens an index for queries. SQLite cannot be interrupted from JavaScript, so statements call `tick` regularly. An
 * error thrown by `tick` ends the statement and reaches its caller.
 */
export function openQueryDatabase({
  file,
  tick,
  cacheBytes = 2 ** 26,
}: {
  file: string;
  tick: () => void;
  cacheBytes?: number;
}): QueryDatabase {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  for (const pragma of PRAGMAS) db.pragma(pragma);
  // A negative number is in KiB. Sorting may use the same amount again before it spills to files.
  db.pragma(`cache_size = -${Math.ceil(cacheBytes / 1024)}`);
  db.defaultSafeIntegers(true);
  // Must not be deterministic, or SQLite would call it once per statement.
  db.function('tick', { deterministic: false }, () => {
    tick();
    return 1n;
  });
  return db;
}

/** Memory-mapped bytes. Pages are read in place: copying them takes most of the time of a scan over a large index. */
const MAPPED_BYTES = 2 ** 31 - 2 ** 16;

/**
 * Sorting and grouping of large data uses temporary files, because the call data of a table does not fit into memory.
 * SQLite chooses the directory; `SQLITE_TMPDIR` comes first.
 */
const PRAGMAS = [
  'busy_timeout = 5000',
  'temp_store = file',
  `mmap_size = ${MAPPED_BYTES}`,
  'query_only = on',
];
