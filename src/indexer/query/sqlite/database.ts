import Database from 'better-sqlite3';

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
