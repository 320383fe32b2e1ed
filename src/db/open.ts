import type { Knex } from 'knex';
import type { Dialect } from './dialect.ts';
import { openPostgres, type PostgresOptions } from './open-postgres.ts';
import { type FileClaim, openSqlite, type SqliteOptions } from './open-sqlite.ts';
import type { SqliteReads } from './sqlite-reads.ts';
import { localWakeups, type Wakeups } from './wakeups.ts';

/** An open database. Only `transaction()` starts a transaction of it. */
export type Db = Knex & {
  readonly dialect: Dialect;
  readonly isTransaction: false;
  /** Where `rowsOf` reads an SQLite file outside a transaction. */
  readonly reads: SqliteReads | undefined;
  /** Claim of an SQLite file for one process; undefined without a file to write. */
  readonly claim: FileClaim | undefined;
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

/** Name of a database for an operator: the file, or PostgreSQL without its address, which may hold a password. */
export function databaseName(options: DatabaseOptions): string {
  return options.kind === 'postgres' ? 'PostgreSQL' : options.file;
}

/** True when processes on several machines may use the database at once. */
export function isShared({ dialect }: Db): boolean {
  return dialect.name === 'postgres';
}

/** A database behind knex. Nothing is connected, and no file created, before the first statement. */
export function openDatabase(options: DatabaseOptions): Db {
  const { knex, dialect, reads, claim, patiently, wakeups } =
    options.kind === 'postgres'
      ? { ...openPostgres(options), reads: undefined, claim: undefined }
      : {
          ...openSqlite(options),
          wakeups: localWakeups(),
          patiently: <T>(work: () => Promise<T>) => work(),
        };
  return Object.assign(knex, { dialect, reads, claim, patiently, wakeups, isTransaction: false as const });
}

/**
 * A database for reads while `db`, opened with the same options, writes: another connection to an SQLite file, and on
 * PostgreSQL `db` itself, whose pool has several.
 */
export async function openReader(db: Db, options: DatabaseOptions): Promise<Db> {
  if (options.kind === 'postgres') return db;
  const reader = openDatabase({ file: options.file, readonly: true });
  // Connected now, so that it is there for as long as the reader is.
  await reader.raw('select 1');
  return reader;
}

/**
 * The options of a store whose content can be made again, so that its commits wait for no disk. On PostgreSQL it has a
 * schema of its own, and a `numeric` is read as a row of SQLite has it.
 */
export function remakeable(options: DatabaseOptions, schema: string): DatabaseOptions {
  if (options.kind !== 'postgres') return { ...options, durability: 'normal' };
  const asRemakeable = { durability: 'normal', numeric: 'uint256' } as const;
  return { ...options, ...asRemakeable, schema };
}
