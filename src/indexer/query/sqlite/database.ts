import Database from 'better-sqlite3';

/** A read-only connection to an index; integers come as bigints. */
export type QueryDatabase = Database;

/**
 * Opens an index for queries. SQLite cannot be interrupted from JavaScript, so statements call `tick` now and then;
 * what it throws ends the statement, and the caller of the statement gets it.
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
  // In KiB when it is negative. Sorting takes as much again before it goes to files.
  db.pragma(`cache_size = -${Math.ceil(cacheBytes / 1024)}`);
  db.defaultSafeIntegers(true);
  // Not deterministic, or SQLite would call it once for a whole statement.
  db.function('tick', { deterministic: false }, () => {
    tick();
    return 1n;
  });
  return db;
}

/** Pages are read where the system holds them: a copy of each costs walks over a large index most of their time. */
const MAPPED_BYTES = 2 ** 31 - 2 ** 16;

/**
 * What is grouped or sorted lies in files when it is more than a little: a table's call data does not fit into memory.
 * The directory is SQLite's choice, `SQLITE_TMPDIR` before all others.
 */
const PRAGMAS = [
  'busy_timeout = 5000',
  'temp_store = file',
  `mmap_size = ${MAPPED_BYTES}`,
  'query_only = on',
];
