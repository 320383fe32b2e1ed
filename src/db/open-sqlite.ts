import createKnex, { type Knex } from 'knex';
import type { Logger } from '../lib/logger.ts';
import { type Dialect, sqliteDialect } from './dialect.ts';
import { driverLog } from './driver-log.ts';

export interface SqliteOptions {
  kind?: 'sqlite';
  /** Path of the file, or `:memory:`; it is created unless `readonly`. */
  file: string;
  readonly?: boolean;
  /**
   * `full`, when absent: a commit outlives a power cut. `normal` may lose the last commits to one (an index can be
   * read again), never consistency.
   */
  durability?: 'normal' | 'full';
  /** Without one the driver's warnings are not heard. */
  log?: Logger;
}

/** How long a single statement waits for a writer in another process. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * SQLite: WAL, so readers on other connections never wait for the writer, and one connection, so inside a transaction
 * every query must go through the transaction's own handle.
 */
export function openSqlite({ file, readonly = false, durability = 'full', log }: SqliteOptions): {
  knex: Knex;
  dialect: Dialect;
} {
  const knex = createKnex({
    client: 'better-sqlite3',
    connection: { filename: file, options: { readonly } },
    useNullAsDefault: true,
    log: driverLog(log),
    pool: {
      min: 1,
      max: 1,
      afterCreate: (connection: unknown, done: (error: Error | null, connection: unknown) => void) => {
        try {
          for (const pragma of pragmas(readonly, durability)) call(connection, 'exec', pragma);
          if (!readonly) beginImmediately(connection);
          done(null, connection);
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)), connection);
        }
      },
    },
  });
  return { knex, dialect: sqliteDialect };
}

function pragmas(readonly: boolean, durability: 'normal' | 'full'): string[] {
  // A read-only connection may not change the journal mode, and needs no say in how commits are flushed.
  const writing = ['pragma journal_mode = wal', `pragma synchronous = ${durability}`];
  const both = [
    `pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
    'pragma foreign_keys = on',
    'pragma temp_store = memory',
    'pragma cache_size = -65536',
  ];
  // The timeout comes first: two processes that create the same file change its journal mode at once.
  return readonly ? both : [...both, ...writing];
}

/**
 * Lets a transaction take the write lock when it begins. knex only knows the deferred `BEGIN`, whose first write fails
 * when another process has written since its first read. A lock that is taken is reported at once, for
 * `transaction()` to try again: the driver waits without letting go of the thread, and if the lock's owner lives on
 * this thread, it could never let go of the lock.
 */
function beginImmediately(connection: unknown): void {
  if (typeof connection !== 'object' || connection === null) throw new TypeError('Not a connection.');
  const prepare: unknown = Reflect.get(connection, 'prepare');
  if (typeof prepare !== 'function') throw new TypeError('The SQLite driver cannot prepare a statement.');
  const begin = {
    reader: false,
    run() {
      call(connection, 'exec', 'pragma busy_timeout = 0');
      try {
        call(connection, 'exec', 'begin immediate');
      } finally {
        call(connection, 'exec', `pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
      }
      return { changes: 0, lastInsertRowid: 0 };
    },
  };
  const prepareOrBegin = (sql: string): unknown => (sql === 'BEGIN;' ? begin : prepare.call(connection, sql));
  Object.assign(connection, { prepare: prepareOrBegin });
}

function call(connection: unknown, method: string, sql: string): void {
  const found: unknown =
    typeof connection === 'object' && connection !== null ? Reflect.get(connection, method) : undefined;
  if (typeof found !== 'function') throw new TypeError(`The SQLite driver has no ${method}.`);
  found.call(connection, sql);
}
