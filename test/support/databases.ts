import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, inject } from 'vitest';
import { CACHE_SCHEMA } from '../../src/data/cache/001-entries.ts';
import { openMigrated } from '../../src/db/migrate.ts';
import type { DatabaseOptions, Db } from '../../src/db/open.ts';
import { indexOptions, indexSchema } from '../../src/indexer/schema/migrations/index-migrations.ts';
import { PAYMENTS_SCHEMA } from '../../src/payments/store/migrations/payments-migrations.ts';

/** The chain of a database with the schema `index`. */
const CHAIN_ID = 31_337;

/** Schemas that a new database can start with. Each is migrated once and then copied. */
const SCHEMAS = {
  payments: options => openMigrated(options, PAYMENTS_SCHEMA),
  cache: options => openMigrated(options, CACHE_SCHEMA),
  index: options => openMigrated(indexOptions(options, CHAIN_ID), indexSchema(CHAIN_ID, options)),
} satisfies Record<string, (options: DatabaseOptions) => Promise<Db>>;
export type TestSchema = keyof typeof SCHEMAS;

/** Initial content of a database: a schema, or a copy of another database, which must have no connections. */
export type TestTemplate = TestSchema | DatabaseOptions;

/** A new database. Its connections must be closed before `remove`. */
export interface TestDatabase<Options extends DatabaseOptions = DatabaseOptions> {
  readonly options: Options;
  remove(): Promise<void>;
}

export const DATABASE_KINDS = ['sqlite', 'postgres'] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

declare module 'vitest' {
  export interface ProvidedContext {
    databases: DatabaseKind | 'both';
  }
}

/** Databases of a suite that does not depend on SQL, by the mode of the run (`vitest.config.ts`). */
export const DATABASES_OF_RUN = databasesOf(inject('databases'));

function databasesOf(provided: DatabaseKind | 'both'): readonly DatabaseKind[] {
  return provided === 'both' ? DATABASE_KINDS : [provided];
}

/** Argument of a suite that runs on both databases. */
export interface TestDatabases {
  readonly kind: DatabaseKind;
  /**
   * Creates a database for `openDatabase` or, with `urlOf`, for a configuration. It is empty without a template. It is
   * removed after the suite, so its connections must be closed by then.
   */
  create(template?: TestTemplate): Promise<DatabaseOptions>;
}

/** Runs a suite about SQL, locks or leases on SQLite in temporary files and on the run's PostgreSQL. */
export function bothDatabases(name: string, suite: (databases: TestDatabases) => void): void {
  eachDatabase(name, suite, DATABASE_KINDS);
}

/** Runs a suite on SQLite in temporary files or on the run's PostgreSQL, by the mode of the run. */
export function eachDatabase(
  name: string,
  suite: (databases: TestDatabases) => void,
  kinds: readonly DatabaseKind[] = DATABASES_OF_RUN,
): void {
  const creators: Record<DatabaseKind, CreateDatabase> = {
    sqlite: sqliteDatabase,
    postgres: postgresDatabase,
  };
  describeEach(name, creators, (create, kind) => suite({ kind, create: createdBy(create) }), kinds);
}

/** Runs a suite once per database of the run, with the fixtures for that database. */
export function describeEach<Fixtures>(
  name: string,
  fixtures: Readonly<Record<DatabaseKind, Fixtures>>,
  suite: (fixtures: Fixtures, kind: DatabaseKind) => void,
  kinds: readonly DatabaseKind[] = DATABASES_OF_RUN,
): void {
  for (const kind of kinds) {
    const place = kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
    describe(`${name}, on ${place}`, () => suite(fixtures[kind], kind));
  }
}

/** The URL of a database as in a configuration file. */
export function urlOf(options: DatabaseOptions): string {
  return options.kind === 'postgres' ? options.url : `sqlite:${options.file}`;
}

/** Creates an SQLite database in its own folder; empty without a template. */
export async function sqliteDatabase(
  template?: TestTemplate,
): Promise<TestDatabase<{ kind: 'sqlite'; file: string }>> {
  const folder = await mkdtemp(join(tmpdir(), 'database-'));
  const file = join(folder, 'test.db');
  if (template !== undefined) await writeFile(file, await sqliteContent(template), { mode: 0o600 });
  return {
    options: { kind: 'sqlite', file },
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Creates a database on the run's PostgreSQL server; empty without a template. */
export async function postgresDatabase(
  template?: TestTemplate,
): Promise<TestDatabase<{ kind: 'postgres'; url: string }>> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const original = template === undefined ? 'template1' : await postgresName(template);
  // Copying files takes 50 ms; PostgreSQL's default, which writes each page to the log, takes 370 ms.
  await asAdministrator(client =>
    client.query(`create database ${name} template ${original} strategy file_copy`),
  );
  return {
    options: { kind: 'postgres', url: postgresUrl(name) },
    remove: async () =>
      void (await asAdministrator(client => client.query(`drop database ${name} with (force)`))),
  };
}

type CreateDatabase = (template?: TestTemplate) => Promise<TestDatabase>;

/** Creates databases that are removed after the current suite. */
function createdBy(create: CreateDatabase): TestDatabases['create'] {
  const created: TestDatabase[] = [];
  afterAll(() => Promise.all(created.map(one => one.remove())));
  return async template => {
    const database = await create(template);
    created.push(database);
    return database.options;
  };
}

async function sqliteContent(template: TestTemplate): Promise<Buffer> {
  if (typeof template === 'string') return sqliteTemplate(template);
  if (template.kind === 'postgres') throw new Error('A copy of a PostgreSQL database is no SQLite database.');
  return readFile(template.file);
}

async function postgresName(template: TestTemplate): Promise<string> {
  if (typeof template === 'string') return postgresTemplate(template);
  if (template.kind !== 'postgres')
    throw new Error('A copy of an SQLite database is no PostgreSQL database.');
  return new URL(template.url).pathname.slice(1);
}

/** The content of a migrated SQLite file, created once per worker. */
const sqliteTemplate = once(async (schema: TestSchema): Promise<Buffer> => {
  const { options, remove } = await sqliteDatabase();
  await migrateClosing(options, schema);
  const content = await readFile(options.file);
  await remove();
  return content;
});

/** The name of a migrated database, created once per run, because the workers share one server. */
const postgresTemplate = once(async (schema: TestSchema): Promise<string> => {
  const name = `template_${schema}`;
  await asAdministrator(async client => {
    await client.query('select pg_advisory_lock(1)');
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 1) return;
    // Renamed once complete, so a worker that dies here leaves no partial template.
    await client.query(`drop database if exists ${name}_draft with (force)`);
    await client.query(`create database ${name}_draft`);
    await migrateClosing({ kind: 'postgres', url: postgresUrl(`${name}_draft`) }, schema);
    await client.query(`alter database ${name}_draft rename to ${name}`);
  });
  return name;
});

async function migrateClosing(options: DatabaseOptions, schema: TestSchema): Promise<void> {
  const db = await SCHEMAS[schema](options);
  await db.destroy();
}

/** Creates one template per schema, even for concurrent calls. */
function once<Template>(make: (schema: TestSchema) => Promise<Template>) {
  const made = new Map<TestSchema, Promise<Template>>();
  return (schema: TestSchema): Promise<Template> => {
    const template = made.get(schema) ?? make(schema);
    made.set(schema, template);
    return template;
  };
}

function postgresUrl(database: string): string {
  const postgres = inject('postgres');
  if ('failure' in postgres) throw new Error(postgres.failure);
  return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(postgres.socketFolder)}`;
}

async function asAdministrator<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: postgresUrl('postgres') });
  await client.connect();
  return await work(client).finally(() => client.end());
}
