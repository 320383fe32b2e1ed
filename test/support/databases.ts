import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, inject } from 'vitest';
import type { DatabaseOptions } from '../../src/db/open.ts';

/** A new empty database. Whoever removes it has closed what it opened of it. */
export interface TestDatabase<Options extends DatabaseOptions = DatabaseOptions> {
  readonly options: Options;
  remove(): Promise<void>;
}

/** What a suite that runs on both databases is given. */
export interface TestDatabases {
  readonly kind: 'sqlite' | 'postgres';
  /**
   * A new empty database, for `openDatabase` as often as a test likes, and for a configuration (`urlOf`). It is
   * removed after the suite: close what you opened of it before.
   */
  create(): Promise<DatabaseOptions>;
}

/** Runs a suite twice: on SQLite in temporary files and on the run's PostgreSQL. */
export function eachDatabase(name: string, suite: (databases: TestDatabases) => void): void {
  describe(`${name}, on SQLite`, () => suite({ kind: 'sqlite', create: createdBy(sqliteDatabase) }));
  describe(`${name}, on PostgreSQL`, () => suite({ kind: 'postgres', create: createdBy(postgresDatabase) }));
}

/** A database as the configuration file names it. */
export function urlOf(options: DatabaseOptions): string {
  return options.kind === 'postgres' ? options.url : `sqlite:${options.file}`;
}

/** An SQLite database in a folder of its own. */
export async function sqliteDatabase(): Promise<TestDatabase<{ kind: 'sqlite'; file: string }>> {
  const folder = await mkdtemp(join(tmpdir(), 'database-'));
  return {
    options: { kind: 'sqlite', file: join(folder, 'test.db') },
    remove: () => rm(folder, { recursive: true }),
  };
}

/** A database of the run's PostgreSQL server. */
export async function postgresDatabase(): Promise<TestDatabase<{ kind: 'postgres'; url: string }>> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdministrator(`create database ${name}`);
  return {
    options: { kind: 'postgres', url: postgresUrl(name) },
    remove: () => asAdministrator(`drop database ${name} with (force)`),
  };
}

/** Creates databases that are removed after the suite this is called in. */
function createdBy(create: () => Promise<TestDatabase>): () => Promise<DatabaseOptions> {
  const created: TestDatabase[] = [];
  afterAll(() => Promise.all(created.map(one => one.remove())));
  return async () => {
    const database = await create();
    created.push(database);
    return database.options;
  };
}

function postgresUrl(database: string): string {
  const postgres = inject('postgres');
  if ('failure' in postgres) throw new Error(postgres.failure);
  return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(postgres.socketFolder)}`;
}

async function asAdministrator(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl('postgres') });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
