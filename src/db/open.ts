import type { Knex } from 'knex';
import type { Dialect } from './dialect.ts';
import { openPostgres, type PostgresOptions } from './open-postgres.ts';
import { openSqlite, type SqliteOptions } from './open-sqlite.ts';
import type { SqliteReads } from './sqlite-reads.ts';
import { localWakeups, type Wakeups } from './wakeups.ts';

/** An open database. Only `transaction()` starts a transaction of it. */
export type Db = Knex & {
  readonly dialect: Dialect;
  readonly isTransaction: false;
  /** Where `rowsOf` reads an SQLite file outside a transaction. */
  readonly reads: SqliteReads | undefined;
  /** Runs work whose statements may take longer than the server may else be silent. */
  readonly patiently: <T>(work: () => Promise<T>) => Promise<T>;
  /** Tells workers of all processes that there is something for them. */
  readonly wakeups: Wakeups;
};

/** One open transaction. It is no `Db`, so it cannot be handed to `transaction()` again. */
export type Transaction = Knex.Transaction & {
  readonly dialect: Dialect;
  readonly isTransaction: true;
  /** Topics that are announced after the commit. */
  readonly announced: Set<string>;
};

/** Whatever a store can be made from. */
export type Handle = Db | Transaction;

export type DatabaseOptions = SqliteOptions | PostgresOptions;

/** True when processes on several machines may use the database at once. */
export function isShared({ dialect }: Db): boolean {
  return dialect.name === 'postgres';
}

/** A database behind knex. Nothing is connected, and no file created, before the first statement. */
export function openDatabase(options: DatabaseOptions): Db {
  const { knex, dialect, reads, patiently, wakeups } =
    options.kind === 'postgres'
      ? { ...openPostgres(options), reads: undefined }
      : {
          ...openSqlite(options),
          wakeups: localWakeups(),
          patiently: <T>(work: () => Promise<T>) => work(),
        };
  return Object.assign(knex, { dialect, reads, patiently, wakeups, isTransaction: false as const });
}
