import type { Tables } from 'knex/types/tables.js';
import type { ColumnType } from './columns.ts';
import type { Dialect } from './dialect.ts';
import type { Db, Handle, Transaction } from './open.ts';
import { rowsOf } from './query.ts';
import { lockedTransaction } from './transaction.ts';

/** A statement as text, or one whose text depends on the database; `table()` makes such ones. */
type Statement = string | ((dialect: Dialect) => string);

/** One step of a schema: a name that never changes once released, and statements run in order. */
export interface Migration {
  name: string;
  up: readonly Statement[];
}

declare module 'knex/types/tables.js' {
  interface Tables {
    /** The steps that a schema has taken. */
    schema_migrations: { name: string; position: number };
  }
}

/** Names the lock in PostgreSQL, which knows them by number only: the bytes of "tollgate". */
const LOCK = '8390043843661231205';

/**
 * Brings a database up to the given list, in one transaction: all new steps or none. Of several processes that start
 * at once one does it and the others wait.
 * @throws when the database knows a step that the list does not: it belongs to a newer version.
 */
export async function migrate(db: Db, migrations: readonly Migration[]): Promise<void> {
  await db.patiently(() => lockedTransaction(db, handle => apply(handle, migrations)));
}

async function apply(handle: Transaction, migrations: readonly Migration[]): Promise<void> {
  if (handle.dialect.name === 'postgres') {
    // Building an index over a large table, or waiting for another process to do so, takes as long as it takes.
    await handle.raw('set local statement_timeout = 0');
    await handle.raw('set local lock_timeout = 0');
    await handle.raw(`select pg_advisory_xact_lock(${LOCK})`);
  }
  await handle.raw(
    'create table if not exists schema_migrations (name text primary key, position integer not null)',
  );
  const done = await appliedNames(handle);
  const unknown = done.filter((name, position) => migrations[position]?.name !== name);
  if (unknown.length > 0) {
    throw new Error(`The database has migrations this version does not know: ${unknown.join(', ')}.`);
  }
  for (const [position, migration] of migrations.entries()) {
    if (position < done.length) continue;
    for (const statement of migration.up) {
      await handle.raw(typeof statement === 'string' ? statement : statement(handle.dialect));
    }
    await handle.raw('insert into schema_migrations (name, position) values (?, ?)', [
      migration.name,
      position,
    ]);
  }
}

/** True when all of these steps are applied. A database that a newer version went on with has more. */
export async function isMigrated(db: Db, migrations: readonly Migration[]): Promise<boolean> {
  const done = await appliedNames(db);
  return migrations.every(({ name }, position) => done[position] === name);
}

async function appliedNames(handle: Handle): Promise<string[]> {
  const rows = await rowsOf<Pick<Tables['schema_migrations'], 'name'>>(
    handle,
    'select name from schema_migrations order by position',
  );
  return rows.map(row => row.name);
}

/** A column's type, alone or with what else SQL says of it: `['text', 'not null references links (id)']`. */
type ColumnDescription = ColumnType | readonly [type: ColumnType, rest: string];

/**
 * `create table` for both databases from one description: columns by name, then constraints over several of them.
 * STRICT on SQLite; text compares by its bytes on both. Names are SQL, not input.
 */
export function table(
  name: string,
  columns: Readonly<Record<string, ColumnDescription>>,
  constraints: readonly string[] = [],
): Statement {
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
