import Database from 'better-sqlite3';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresDialect, sqliteDialect } from '../src/db/dialect.ts';
import { builderStatements } from './support/builder-statements.ts';
import { postgresDatabase, sqliteDatabase, type TestSchema } from './support/databases.ts';
import { faultsOf, type ResultColumn, typesOn } from './support/result-columns.ts';
import type { StandIns } from './support/source-texts.ts';
import { type StatementSource, statementSources } from './support/statement-sources.ts';

/** SQL in place of values known only at run time. */
const STAND_INS: Readonly<Record<string, string>> = {
  sql: '1 = 1',
  'inForce.sql': '1 = 1',
  'where.sql': '1 = 1',
  isOwn: '1 = 1',
  table: 'deliveries',
  from: 'deliveries',
  column: 'sealed_body',
  'column.table': 'deliveries',
  'column.column': 'sealed_body',
  "key.join(', ')": 'id',
  "key.map(() => '?').join(', ')": '?',
  order: 'created_at desc, id desc',
  unindexed: 'created_at',
  limit: '10',
  undo: 'attempts = attempts - 1',
  'owners.sql': "(values ('org_1', 'live'))",
  "columns.join(', ')": 'mode',
  "next('')": '(select webhook_id from deliveries limit 1)',
  "next(' and webhook_id > pending.webhook_id')":
    '(select webhook_id from deliveries where webhook_id > pending.webhook_id limit 1)',
  "looks.join(' union all ')": "select 'events' as topic where exists (select 1 from events)",
  statement: '',
  'statement(handle.dialect)': '',
  'andAlso(set)': '',
  "handle.dialect.among('select id from due')": 'in (select id from due)',
  'Object.keys(first)': 'mode',
  // Part of a built statement.
  ACTIVE_AMOUNT: '',
  "set.join(', ')": 'success_count = 0',
};
/** By the beginning of expressions that are templates themselves. */
const LONG_STAND_INS: readonly (readonly [beginning: string, sql: string])[] = [
  ['placeholders(', '?'],
  ['places.map(', '(?, ?)'],
  ['tasks.map(', '(?, ?, ?)'],
  [
    'Object.entries(COLUMNS)',
    "'' as id, '' as token, '' as status, 1 as response_code, 1 as response_time_ms, 1 as automatic_failures, 1 = 1 as has_failed, '' as last_error, 1 as ended_at, 1 as next_attempt_at",
  ],
  ['columns.map(', 'mode = excluded.mode'],
  ['column.key.map(', 'id = ?'],
  ['[...due, ...ahead]', "select 'deliveries' as topic where exists (select 1 from deliveries)"],
  ["[ of('payment_links'", 'select 1 as used from payment_links'],
  ['sources.map(', 'select id, amount, amount_due, created_at from checkout_sessions'],
];

const DIALECTS = { sqlite: sqliteDialect, postgres: postgresDialect } as const;

const sourcesOn = (database: 'sqlite' | 'postgres') =>
  statementSources({ dialect: DIALECTS[database], standIns: standInsOn(database) });

function standInsOn(database: 'sqlite' | 'postgres'): StandIns {
  const dialect = DIALECTS[database];
  const ofDialect: Readonly<Record<string, string>> = {
    "handle.dialect.exactSum('amount')": dialect.exactSum('amount'),
    'handle.dialect.jsonElements': dialect.jsonElements,
    'idsOf(handle)': `select value ->> 0 from ${dialect.jsonElements}`,
  };
  return (expression, place) => {
    const [, lock] = /^rowLock\(handle, '(.+)'\)$/.exec(expression) ?? [];
    if (lock !== undefined) return database === 'postgres' ? ` ${lock}` : '';
    if (expression === 'sql' && place.includes('notification-store')) return STAND_INS['owners.sql'];
    const long = LONG_STAND_INS.find(([beginning]) => expression.startsWith(beginning));
    return long?.[1] ?? ofDialect[expression] ?? STAND_INS[expression];
  };
}

/** Reads the columns of statements on SQLite, where the cache has its own database. */
async function sqlite(schema: TestSchema) {
  const { options, remove } = await sqliteDatabase(schema);
  const db = new Database(options.file);
  onTestFinished(async () => {
    db.close();
    await remove();
  });
  return (sql: string): ResultColumn[] => {
    const statement = db.prepare(sql);
    return statement.reader ? statement.columns().map(({ name, type }) => ({ name, type })) : [];
  };
}

/** Reads the column types of statements on PostgreSQL. */
async function postgres() {
  const { options, remove } = await postgresDatabase('payments');
  const client = new pg.Client({ connectionString: options.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await remove();
  });
  return typesOn(client);
}

/** Only SQLite stores answers of the data back end. */
const isOfCache = ({ place }: StatementSource) => place.startsWith('src/data/cache/');
/** Tables and statements that only PostgreSQL has. */
const OF_POSTGRES = /\b(?:(?:pg_\w+|unnest|clock_timestamp|current_setting)\(|from pg_\w+)/;

test('both databases can prepare every statement, and return the columns of its row type', async () => {
  const [columnsOf, cacheColumnsOf, typesOf] = [
    await sqlite('payments'),
    await sqlite('cache'),
    await postgres(),
  ];
  /** Columns of a statement, after each database that runs it has prepared it. */
  async function preparedColumns(source: StatementSource, text: string, postgresText: string) {
    if (isOfCache(source)) return cacheColumnsOf(text);
    const types = await typesOf(postgresText);
    if (OF_POSTGRES.test(text)) return [];
    return columnsOf(text).map(({ name }, index) => ({ name, type: types[index] }));
  }
  const onPostgres = sourcesOn('postgres');
  const faults: string[] = [];

  for (const [place, source] of sourcesOn('sqlite').entries()) {
    for (const [variant, text] of source.texts.entries()) {
      try {
        const given = await preparedColumns(source, text, onPostgres[place]?.texts[variant] ?? '');
        faults.push(...faultsOf(source, given));
      } catch (error) {
        faults.push(`${source.place} ${error}: ${text}`);
      }
    }
  }

  const folders = onPostgres.map(({ place }) => place.split('/').slice(0, 2).join('/'));
  expect([...new Set(folders)].toSorted()).toEqual(['src/data', 'src/db', 'src/payments']);
  expect(onPostgres.length).toBeGreaterThan(120);
  expect(faults).toEqual([]);
}, 240_000);

test('both databases have every column named in a built statement', async () => {
  const [columnsOf, typesOf] = [await sqlite('payments'), await postgres()];
  const statements = builderStatements();
  const faults: string[] = [];

  for (const { place, text } of statements) {
    for (const prepare of OF_POSTGRES.test(text) ? [typesOf] : [columnsOf, typesOf]) {
      try {
        await prepare(text);
      } catch (error) {
        faults.push(`${place} ${error}: ${text}`);
      }
    }
  }

  expect(faults).toEqual([]);
  expect(statements.length).toBeGreaterThan(40);
}, 240_000);
