import { chmodSync, realpathSync } from 'node:fs';
import Database from 'better-sqlite3';
import createKnex, { type Knex } from 'knex';
import BetterSqlite3Client from 'knex/lib/dialects/better-sqlite3/index.js';
import { driverLog, type Logger } from '../lib/logger.ts';
import { type Dialect, sqliteDialect } from './dialect.ts';
import { keepingStatements } from './kept-statements.ts';
import { type SqliteReads, sqliteReads } from './sqlite-reads.ts';

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
/** What is sent more than once; a pragma, for one, is not: some do their work when they are prepared. */
const ROWS = /^\s*(?:select|insert|update|delete|with)\b/i;

/**
 * SQLite: WAL, so readers on other connections never wait for the writer, and one connection behind knex, so inside a
 * transaction every query must go through the transaction's own handle. Of a file, `reads` has another one.
 */
export function openSqlite({ file, readonly = false, durability = 'full', log }: SqliteOptions): {
  knex: Knex;
  dialect: Dialect;
  reads: SqliteReads | undefined;
  claim: FileClaim | undefined;
} {
  // A database without a file is seen by the connection that made it and no other.
  const isOfFile = !['', ':memory:'].includes(file.trim());
  const reads = isOfFile
    ? sqliteReads({
        file,
        pragmas: COMMON_PRAGMAS,
        // Whoever listens to knex hears of these reads, too.
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
      // The connection has made the file what it is to be.
      reads?.begin();
      return connection;
    }

    override async destroyRawConnection(connection: Connection) {
      // The one that is closed last clears the log away, which a read-only one cannot.
      reads?.close();
      await super.destroyRawConnection(connection);
    }

    /** Begins a transaction with the write lock, where knex only knows the deferred `BEGIN`. */
    override async _query(connection: Connection, query: { readonly sql: string }) {
      if (query.sql !== 'BEGIN;') return super._query(connection, query);
      connection.beginImmediately();
      return { ...query, response: [] };
    }
  }
  const knex: Knex = createKnex({
    client: SqliteClient,
    connection: { filename: file, options: { readonly } },
    useNullAsDefault: true,
    log: driverLog(log),
    // Else the message of an error has the statement with the values that were bound to it.
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

/** The right to be the only process of its kind at an SQLite file. The system ends it with the process. */
export interface FileClaim {
  /** True when this process has it now; false when another one has. */
  take(): boolean;
  release(): void;
}

/** Claims `file` by the lock of an empty database beside it, which takes no write from other users of the file. */
function fileClaim(file: string, log: Logger | undefined): FileClaim {
  let held: Database | undefined;
  return {
    take() {
      if (held !== undefined) return true;
      // A link to the file is the same file.
      const place = `${realpathSync(file)}-writer`;
      const lock = new Database(place, { timeout: 0 });
      try {
        lock.exec('begin exclusive');
        closeToOthers(place, log);
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

/** A connection that prepares each statement once. */
class Connection extends Database {
  readonly #prepareKept = keepingStatements(sql => super.prepare(sql));

  override prepare(sql: string) {
    return ROWS.test(sql) ? this.#prepareKept(sql) : super.prepare(sql);
  }

  /**
   * Takes the write lock, because a deferred `BEGIN` fails at its first write when another process has written since its
   * first read. A lock that is taken is reported at once, for `transaction()` to try again: the driver waits without
   * letting go of the thread, and if the lock's owner lives on this thread, it could never let go of the lock.
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

/** Lets only the owner read the database, also one that was there before. SQLite gives its log the mode of the file. */
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
  // First: two processes that create the same file change its journal mode at once.
  `pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
  'pragma foreign_keys = on',
  'pragma temp_store = memory',
  'pragma cache_size = -65536',
];

function pragmas(readonly: boolean, durability: 'normal' | 'full'): string[] {
  // A read-only connection may not change the journal mode, and needs no say in how commits are flushed.
  const writing = ['pragma journal_mode = wal', `pragma synchronous = ${durability}`];
  return readonly ? COMMON_PRAGMAS : [...COMMON_PRAGMAS, ...writing];
}
