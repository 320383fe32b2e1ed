import { chmodSync, realpathSync } from 'node:fs';
import Database from 'better-sqlite3';
import createKnex, { type Knex } from 'knex';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import { driverLog, type Logger } from '../lib/logger.ts';
import { Unavailable } from '../lib/unavailable.ts';
import { type Dialect, sqliteDialect } from './dialect.ts';
import { keepingStatements, type SqliteReads, sqliteReads } from './sqlite-reads.ts';

export interface SqliteOptions {
  kind?: 'sqlite';
  /** Path of the file, or `:memory:`. The file is created unless `readonly`. */
  file: string;
  readonly?: boolean;
  /**
   * With `full` (the default) a commit survives a power failure. With `normal` a power failure may lose the last
   * commits, which an index can read again, but never consistency.
   */
  durability?: 'normal' | 'full';
  /** Receives the driver's warnings; they are dropped when absent. */
  log?: Logger;
}

/** Maximum wait of a statement for a writer in another process. */
const BUSY_TIMEOUT_MS = 5_000;
/** Statements worth caching. Others, such as pragmas, may take effect when they are prepared. */
const ROWS = /^\s*(?:select|insert|update|delete|with)\b/i;

/**
 * Opens SQLite in WAL mode, so that readers on other connections never wait for the writer. knex has one connection, so
 * inside a transaction every query must use the transaction's handle. For a file, `reads` is a second connection.
 */
export function openSqlite({ file, readonly = false, durability = 'full', log }: SqliteOptions): {
  knex: Knex;
  dialect: Dialect;
  reads: SqliteReads | undefined;
  claim: FileClaim | undefined;
} {
  // A database without a file is visible only to the connection that created it.
  const isOfFile = !['', ':memory:'].includes(file.trim());
  const reads = isOfFile
    ? sqliteReads({
        file,
        pragmas: COMMON_PRAGMAS,
        // Reports these reads to listeners of knex, too.
        heard(statement, rows) {
          knex.client.emit('query', statement);
          knex.client.emit('query-response', rows, statement);
        },
      })
    : undefined;
  class SqliteClient extends BetterSqlite3Client<Connection> {
    override _driver() {
      return Connection;
    }

    override async acquireRawConnection() {
      const connection = await super.acquireRawConnection();
      if (isOfFile && !readonly) closeToOthers(file, log);
      for (const pragma of pragmas(readonly, durability)) connection.exec(pragma);
      // The connection has configured the file, so `reads` may open it.
      reads?.begin();
      return connection;
    }

    override async destroyRawConnection(connection: Connection) {
      // The last connection to close removes the WAL, which a read-only one cannot.
      reads?.close();
      await super.destroyRawConnection(connection);
    }

    /**
     * Begins a transaction with the write lock; knex supports only the deferred `BEGIN`.
     * @throws Unavailable while the disk is full, or the file read-only or locked
     */
    override async _query(connection: Connection, query: { readonly sql: string }) {
      try {
        if (query.sql === 'BEGIN;') connection.beginImmediately();
        // On a full disk, SQLite rolls back by itself.
        else if (query.sql !== 'ROLLBACK' || connection.inTransaction)
          return await super._query(connection, query);
        return { ...query, response: [] };
      } catch (error) {
        const outage = sqliteDialect.outageOf(error);
        throw outage === undefined ? error : new Unavailable(outage, error);
      }
    }
  }
  const knex: Knex = createKnex({
    client: SqliteClient,
    connection: { filename: file, options: { readonly } },
    useNullAsDefault: true,
    log: driverLog(log),
    // Otherwise error messages would contain the statement with its bound values.
    compileSqlOnError: false,
    pool: { min: 1, max: 1 },
  });
  return {
    knex,
    dialect: sqliteDialect,
    reads,
    claim: isOfFile && !readonly ? fileClaim(file, log) : undefined,
  };
}

/**
 * Exclusive claim of a process on an SQLite file. It excludes only processes that take the claim too, and ends with the
 * process.
 */
export interface FileClaim {
  /** True when this process holds the claim; false when another one does. */
  take(): boolean;
  release(): void;
}

/** Claims `file` by locking a separate empty database next to it, so that other users of `file` can still write. */
function fileClaim(file: string, log: Logger | undefined): FileClaim {
  let held: Database | undefined;
  return {
    take() {
      if (held !== undefined) return true;
      // Resolves symbolic links, so that every path to the file leads to the same lock.
      const path = `${realpathSync(file)}-writer`;
      const lock = new Database(path, { timeout: 0 });
      try {
        lock.exec('begin exclusive');
        closeToOthers(path, log);
        held = lock;
        return true;
      } catch (error) {
        lock.close();
        if (sqliteDialect.isRetryable(error)) return false;
        throw error;
      }
    },
    release() {
      held?.close();
      held = undefined;
    },
  };
}

/** Connection that prepares each statement once. */
class Connection extends Database {
  readonly #prepareKept = keepingStatements(sql => super.prepare(sql));

  override prepare(sql: string) {
    return ROWS.test(sql) ? this.#prepareKept(sql) : super.prepare(sql);
  }

  /**
   * Takes the write lock, because a deferred `BEGIN` fails at its first write when another process has written since
   * its first read. A held lock is reported at once, so that `transaction()` retries. The driver would wait while
   * blocking the thread, so an owner on the same thread could never release the lock.
   */
  beginImmediately(): void {
    this.exec('pragma busy_timeout = 0');
    try {
      this.exec('begin immediate');
    } finally {
      this.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }
}

/** Restricts the database to its owner, including an existing one. SQLite gives its log the mode of the file. */
function closeToOthers(file: string, log: Logger | undefined): void {
  for (const part of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      chmodSync(part, 0o600);
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isMissing)
        log?.warn({ err: error, file: part }, 'the mode of a database file cannot be set to 600');
    }
  }
}

const COMMON_PRAGMAS = [
  // Must be first: two processes that create the same file change its journal mode at once.
  `pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
  'pragma foreign_keys = on',
  'pragma temp_store = memory',
  'pragma cache_size = -65536',
];

function pragmas(readonly: boolean, durability: 'normal' | 'full'): string[] {
  // A read-only connection may not change the journal mode and flushes no commits.
  const writing = ['pragma journal_mode = wal', `pragma synchronous = ${durability}`];
  return readonly ? COMMON_PRAGMAS : [...COMMON_PRAGMAS, ...writing];
}
