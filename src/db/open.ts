import type { Knex } from 'knex';
import type { Tables } from 'knex/types/tables.js';
import { type ServerTime, serverTime } from '../lib/clock.ts';
import type { Dialect } from './dialect.ts';
import { openPostgres } from './open-postgres.ts';
import { type FileClaim, openSqlite, type SqliteOptions } from './open-sqlite.ts';
import type { PostgresOptions } from './postgres/options.ts';
import type { SqliteReads } from './sqlite-reads.ts';
import { localWakeups, type Wakeups } from './wakeups.ts';

/** Open database. Only `transaction()` starts its transactions. */
export type Db = TableStatements &
  Knex & {
    readonly dialect: Dialect;
    readonly isTransaction: false;
    /** Used by `rowsOf` to read an SQLite file outside a transaction. */
    readonly reads: SqliteReads | undefined;
    /** Claim on an SQLite file for one process; undefined without a writable file. */
    readonly claim: FileClaim | undefined;
    /** Runs work whose statements may exceed the server's idle timeout. */
    readonly withoutIdleTimeout: <T>(work: () => Promise<T>) => Promise<T>;
    /** Time of the PostgreSQL server; undefined on SQLite. */
    readonly serverTime: ServerTime | undefined;
    /** Notifies workers of all processes of new work. */
    readonly wakeups: Wakeups;
  };

/** Open transaction. It is not a `Db`, so it cannot be passed to `transaction()` again. */
export type Transaction = TableStatements &
  Knex.Transaction & {
    readonly dialect: Dialect;
    readonly isTransaction: true;
    /** Topics that are announced after the commit. */
    readonly announced: Set<string>;
  };

/** Database or transaction, as accepted by stores. */
export type Handle = Db | Transaction;

/** Statements on one table by its name. */
type TableStatements = <Name extends keyof Tables>(table: Name) => TableStatement<Tables[Name]>;

/**
 * The part of knex's builder that the stores use. Here the compiler checks every name of a column; knex also accepts
 * any string, and further fields of a variable. Resolves to the number of changed rows.
 */
interface TableStatement<Row> extends PromiseLike<number> {
  where<Values extends Partial<Row>>(values: Only<Values, Row>): this;
  where<Name extends keyof Row>(column: Name, operator: '<' | '<=', value: Row[Name]): this;
  whereIn<Name extends keyof Row>(column: Name, values: readonly Row[Name][]): this;
  whereNull(column: keyof Row): this;
  whereNotNull(column: keyof Row): this;
  forShare(): this;
  clone(): this;
  insert<Values extends Partial<Row>>(values: Only<Values, Row> | readonly Only<Values, Row>[]): this;
  /** Condition of a unique index in place of its columns, if it is partial. */
  onConflict(columns?: keyof Row | readonly (keyof Row)[] | Knex.Raw): Conflict<Row>;
  update<Values extends Partial<Row>>(values: Only<Values, Row>): this;
  delete(): this;
  select<Name extends keyof Row>(...columns: readonly Name[]): PromiseLike<Pick<Row, Name>[]>;
  returning<Name extends keyof Row>(column: Name): PromiseLike<Pick<Row, Name>[]>;
}

/** Insertion that meets rows with the same key. */
interface Conflict<Row> {
  ignore(): TableStatement<Row>;
  merge(): TableStatement<Row>;
}

/** Values without fields that are no columns. */
type Only<Values, Row> = Values & { readonly [Name in Exclude<keyof Values, keyof Row>]: never };

export type DatabaseOptions = SqliteOptions | PostgresOptions;

/** Name of a database for operators: the file, or "PostgreSQL" without its address, which may contain a password. */
export function databaseName(options: DatabaseOptions): string {
  return options.kind === 'postgres' ? 'PostgreSQL' : options.file;
}

/** Path of an SQLite file; undefined for a database in memory or on a server. */
export function fileOf(options: DatabaseOptions): string | undefined {
  return options.kind === 'postgres' || options.file === ':memory:' ? undefined : options.file;
}

/** True when processes on several machines can use the database. */
export function isShared({ dialect }: Db): boolean {
  return dialect.name === 'postgres';
}

/** Opens a database through knex. It connects, or creates the file, at the first statement. */
export function openDatabase(options: DatabaseOptions): Db {
  const { knex, ...parts } =
    options.kind === 'postgres'
      ? { ...openPostgres(options), reads: undefined, claim: undefined, serverTime: serverTime() }
      : {
          ...openSqlite(options),
          serverTime: undefined,
          wakeups: localWakeups(),
          withoutIdleTimeout: <T>(work: () => Promise<T>) => work(),
        };
  return Object.assign(knex, { ...parts, isTransaction: false as const });
}

/**
 * Opens a database for reads while `db`, opened with the same options, writes: another connection to an SQLite file, or
 * on PostgreSQL `db` itself, whose pool has several connections.
 */
export async function openReader(db: Db, options: DatabaseOptions): Promise<Db> {
  if (options.kind === 'postgres') return db;
  const reader = openForReads(options);
  // Connects now, so that the file stays open as long as the reader.
  await reader.raw('select 1');
  return reader;
}

/** Opens what another part of the installation writes, for few reads: an SQLite file, or PostgreSQL by one connection. */
export function openForReads(options: DatabaseOptions): Db {
  return openDatabase(
    options.kind === 'postgres' ? { ...options, poolSize: 1 } : { file: options.file, readonly: true },
  );
}

/**
 * Options of a store whose content can be rebuilt, so that its commits do not wait for the disk. On PostgreSQL it has
 * its own schema, and a `numeric` is read in the format of a row on SQLite.
 */
export function remakeable(options: DatabaseOptions, schema: string): DatabaseOptions {
  if (options.kind !== 'postgres') return { ...options, durability: 'normal' };
  const asRemakeable = { durability: 'normal', numeric: 'uint256' } as const;
  return { ...options, ...asRemakeable, schema };
}

/**
 * Options of a store with long lists. The `random_page_cost` is the usual one for solid-state disks: with PostgreSQL's 4,
 * which is for turning disks, the planner counts many rows in their table, with parallel workers, which takes five times
 * as long as in an index.
 */
export function countingInIndexes(options: DatabaseOptions): DatabaseOptions {
  return options.kind === 'postgres' ? { ...options, randomPageCost: 1.1 } : options;
}
