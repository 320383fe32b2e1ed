import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Tables } from 'knex/types/tables.js';
import pg from 'pg';
import { CannotStart } from '../lib/startup-error.ts';
import { compareVersions, VERSION } from '../lib/version.ts';
import type { ColumnType } from './columns.ts';
import type { Dialect } from './dialect.ts';
import { type DatabaseOptions, type Db, type Handle, openDatabase, type Transaction } from './open.ts';
import { serverText } from './open-postgres.ts';
import { rowsOf } from './query.ts';
import { lockedTransaction } from './transaction.ts';

/** SQL statement, or a function that returns it for a dialect, as `table()` does. */
type Statement = string | ((dialect: Dialect) => string);

/** One step of a schema: a name that never changes after its release, and statements that run in order. */
export interface Migration {
  name: string;
  up: readonly Statement[];
  /**
   * Oldest version of this program that works with the schema after the step. Absent while every version that worked
   * before the step still works. Additions come in one release, removals in a later one.
   */
  servesFrom?: `${number}.${number}.${number}`;
  /** Sentence for a database that has another step in this place: what it is, and what to do. */
  otherwise?: string;
}

/** Schema of one database. */
export interface Schema {
  /** Name within a sentence: `payments database`. */
  readonly title: string;
  readonly migrations: readonly Migration[];
  /** Path of the setting that names the database; undefined when there are several. */
  readonly setting?: string;
}

/** Migrations of a database, compared with those that this program knows. */
export interface SchemaState {
  /** In the order of application, including steps of newer versions. */
  readonly applied: readonly string[];
  readonly pending: readonly Migration[];
  /**
   * Reason why this program cannot work with the schema, as a sentence. Undefined when pending migrations are the only
   * obstacle.
   */
  readonly refusal: string | undefined;
}

declare module 'knex/types/tables.js' {
  interface Tables {
    /** Applied migrations of a schema. */
    schema_migrations: {
      name: string;
      position: number;
      /** Missing when an old version created the table. */
      serves_from?: string | null;
    };
  }
}

/** Advisory lock of PostgreSQL, which identifies locks by number: the bytes of "tollgate". */
const LOCK = '8390043843661231205';
/** Maximum wait for another process that migrates the same SQLite file. */
const WAIT_MS = 600_000;

/**
 * Opens a database and migrates it to the newest schema. The folder of an SQLite file is created, accessible to its
 * owner only.
 * @throws CannotStart when the database cannot be used
 */
export async function openMigrated(options: DatabaseOptions, schema: Schema): Promise<Db> {
  let db: Db | undefined;
  try {
    db = openDatabase(options);
    if (options.kind !== 'postgres' && options.file !== ':memory:') {
      await mkdir(dirname(options.file), { recursive: true, mode: 0o700 });
    }
    await migrate(db, schema.migrations, options.kind === 'postgres' ? options.schema : undefined);
    return db;
  } catch (error) {
    await db?.destroy();
    throw unusable(options, schema, error);
  }
}

/**
 * Reads the schema state of a database without changing it. An SQLite file that does not exist is not created.
 * @throws CannotStart when the database cannot be used
 */
export async function readSchema(options: DatabaseOptions, schema: Schema): Promise<SchemaState> {
  const isFile = options.kind !== 'postgres';
  if (isFile && !existsSync(options.file)) return stateOf([], schema.migrations);
  let db: Db | undefined;
  try {
    db = openDatabase(isFile ? { ...options, readonly: true } : options);
    return await schemaState(db, schema.migrations);
  } catch (error) {
    throw unusable(options, schema, error);
  } finally {
    await db?.destroy();
  }
}

/** Error for a database that cannot be used. */
export function unusable(options: DatabaseOptions, { title, setting }: Schema, error: unknown): CannotStart {
  const file = options.kind === 'postgres' ? '' : ` ${options.file}`;
  return new CannotStart(`The ${title}${file} cannot be used`, reasonFor(error), setting);
}

/**
 * PostgreSQL's error codes for a missing privilege and for schemas that the role may not use. Source: "Error Codes".
 */
const WITHOUT_RIGHTS = ['42501', '3F000'];

/** Server error, with advice when the role lacks the privilege `to` do it. */
function reasonFor(error: unknown, to = 'read and write the tables'): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const advice = WITHOUT_RIGHTS.includes(error.code ?? '') ? `; its role needs the right to ${to} there` : '';
  return new Error(serverText(error) + advice, { cause: error });
}

/**
 * Applies pending migrations in one transaction, all or none. When several processes start at once, one migrates and
 * the others wait; the lock ends with its process. Writes nothing when nothing is pending. Creates the PostgreSQL
 * schema used by the connections when `schemaName` is given and it does not exist.
 * @throws when a step of a newer version no longer supports this version, or when the applied steps differ from the
 * list
 */
export async function migrate(db: Db, migrations: readonly Migration[], schemaName?: string): Promise<void> {
  if (pendingOf(await schemaState(db, migrations)).length === 0) return;
  const applied = db.withoutIdleTimeout(() =>
    lockedTransaction(db, handle => apply(handle, migrations, schemaName), WAIT_MS),
  );
  await applied.catch(error => {
    throw reasonFor(error, 'create schemas and tables');
  });
}

/** Reason why this program cannot work with the schema as it is; undefined when it can. */
export async function schemaFault(db: Db, migrations: readonly Migration[]): Promise<string | undefined> {
  const { pending, refusal } = stateOf(await appliedSteps(db), migrations);
  return refusal ?? (pending.length > 0 ? 'migrations are missing' : undefined);
}

async function schemaState(db: Db, migrations: readonly Migration[]): Promise<SchemaState> {
  return stateOf((await hasSteps(db)) ? await appliedSteps(db) : [], migrations);
}

/**
 * Reads PostgreSQL's catalogue: `hasTable` does not see tables without privileges, and `to_regclass` may cache that the
 * table did not exist.
 */
async function hasSteps(handle: Handle): Promise<boolean> {
  if (handle.dialect.name === 'sqlite') return handle.schema.hasTable('schema_migrations');
  const sql =
    "select 1 as found from pg_class where relname = 'schema_migrations' and pg_table_is_visible(oid)";
  return (await rowsOf(handle, sql)).length > 0;
}

async function apply(
  handle: Transaction,
  migrations: readonly Migration[],
  schemaName: string | undefined,
): Promise<void> {
  if (handle.dialect.name === 'postgres') await lockPostgres(handle);
  if (schemaName !== undefined) await createSchema(handle, schemaName);
  if (!(await hasSteps(handle))) {
    await handle.raw(
      'create table schema_migrations (name text primary key, position integer not null, serves_from text)',
    );
  } else if (!(await handle.schema.hasColumn('schema_migrations', 'serves_from'))) {
    await handle.raw('alter table schema_migrations add column serves_from text');
  }
  const pending = pendingOf(stateOf(await appliedSteps(handle), migrations));
  for (const { name, up, servesFrom = null } of pending) {
    for (const statement of up) {
      await handle.raw(typeof statement === 'string' ? statement : statement(handle.dialect));
    }
    const position = migrations.findIndex(migration => migration.name === name);
    await handle('schema_migrations').insert({ name, position, serves_from: servesFrom });
  }
}

/** Checks first, because `if not exists` requires the privilege to create schemas even when it exists. */
async function createSchema(handle: Transaction, name: string): Promise<void> {
  const found = await handle('pg_namespace').select('nspname').where({ nspname: name });
  if (found.length === 0) await handle.raw(`create schema ${name}`);
}

async function lockPostgres(handle: Transaction): Promise<void> {
  // Building a large index, or waiting for another process to do so, may take any time.
  await handle.raw('set local statement_timeout = 0');
  await handle.raw('set local lock_timeout = 0');
  // The server notices that a client died only at the end of the statement, unless it checks the connection. Servers
  // before version 14 and on some systems cannot check.
  await handle.raw(`
    do $$ begin
      perform set_config('client_connection_check_interval', '1s', true);
    exception when undefined_object or invalid_parameter_value then null;
    end $$`);
  await handle.raw(`select pg_advisory_xact_lock(${LOCK})`);
}

type AppliedStep = Tables['schema_migrations'];

function appliedSteps(handle: Handle): Promise<AppliedStep[]> {
  return rowsOf<AppliedStep>(handle, 'select * from schema_migrations order by position');
}

function stateOf(steps: readonly AppliedStep[], migrations: readonly Migration[]): SchemaState {
  return {
    applied: steps.map(({ name }) => name),
    pending: migrations.slice(steps.length),
    refusal: refusalOf(steps, migrations),
  };
}

function refusalOf(steps: readonly AppliedStep[], migrations: readonly Migration[]): string | undefined {
  const strange = steps
    .slice(0, migrations.length)
    .filter(({ name }, position) => migrations[position]?.name !== name);
  if (strange.length > 0) {
    const [first] = strange;
    const advice = migrations.find((_, position) => steps[position] === first)?.otherwise;
    if (advice !== undefined) return advice;
    return `Its schema has steps that this version does not know (${strange.map(({ name }) => name).join(', ')}).`;
  }
  const demands = steps
    .slice(migrations.length)
    .flatMap(({ name, serves_from: version }) => (typeof version === 'string' ? [{ name, version }] : []))
    .sort((a, b) => compareVersions(b.version, a.version));
  const [highest] = demands;
  if (highest === undefined || compareVersions(highest.version, VERSION) <= 0) return undefined;
  return `Its schema serves tollgate ${highest.version} and newer, since the step "${highest.name}".`;
}

function pendingOf({ pending, refusal }: SchemaState): readonly Migration[] {
  if (refusal !== undefined) throw new Error(refusal);
  return pending;
}

/** Type of a column, optionally with more SQL: `['text', 'not null references links (id)']`. */
type ColumnDescription = ColumnType | readonly [type: ColumnType, rest: string];

/**
 * `create table` for both databases from one description: columns by name, then table constraints. Tables are STRICT on
 * SQLite, and text compares by bytes on both. Names are SQL, not input.
 */
export function table(
  name: string,
  columns: Readonly<Record<string, ColumnDescription>>,
  constraints: readonly string[] = [],
): (dialect: Dialect) => string {
  return dialect => {
    const lines = Object.entries(columns).map(([column, description]) =>
      columnSql(dialect, column, description),
    );
    return `create table ${name} (\n  ${[...lines, ...constraints].join(',\n  ')}\n)${dialect.afterTable}`;
  };
}

/** `alter table … add column` for both databases. */
export function addColumn(name: string, column: string, description: ColumnDescription): Statement {
  return dialect => `alter table ${name} add column ${columnSql(dialect, column, description)}`;
}

function columnSql(dialect: Dialect, column: string, description: ColumnDescription): string {
  const [type, rest] = typeof description === 'string' ? [description, ''] : description;
  return `${column} ${dialect.columnType(type, column)} ${rest}`.trimEnd();
}
