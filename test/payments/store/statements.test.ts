import Database from 'better-sqlite3';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresDatabase, sqliteDatabase } from '../../support/databases.ts';
import { type StandIns, type StatementSource, statementSources } from '../../support/statement-sources.ts';

/** SQL for what only the running program knows. */
const STAND_INS: Readonly<Record<string, string>> = {
  sql: '1 = 1',
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
  "Object.keys(COLUMNS).join(', ')":
    'id, token, status, response_code, response_time_ms, automatic_failures, has_failed, last_error, ended_at, next_attempt_at',
};
const OUTCOME = ['text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'boolean', 'text', 'bigint', 'bigint'];
/** By the beginning of expressions that are templates themselves. */
const LONG_STAND_INS: readonly (readonly [beginning: string, sql: string])[] = [
  ['placeholders(', '?'],
  ['columns.map(', 'mode = excluded.mode'],
  ['column.key.map(', 'id = ?'],
  ['part.map(', `(${OUTCOME.map(type => `cast(? as ${type})`)})`],
  ["[ of('payment_links'", 'select 1 as used from payment_links'],
  ['sources.map(', 'select id, amount, amount_due, created_at from checkout_sessions'],
];

/** How values of a PostgreSQL type are read. */
const KINDS: Readonly<Record<string, string>> = {
  text: 'string',
  'character varying': 'string',
  bigint: 'number',
  integer: 'number',
  boolean: 'boolean',
  bytea: 'Buffer',
};

function standInsOn(database: 'sqlite' | 'postgres'): StandIns {
  return (expression, place) => {
    const [, lock] = /^rowLock\(handle, '(.+)'\)$/.exec(expression) ?? [];
    if (lock !== undefined) return database === 'postgres' ? ` ${lock}` : '';
    if (expression === 'sql' && place.includes('notification-store')) return STAND_INS['owners.sql'];
    const long = LONG_STAND_INS.find(([beginning]) => expression.startsWith(beginning));
    return long?.[1] ?? STAND_INS[expression];
  };
}

async function sqlite() {
  const { options, remove } = await sqliteDatabase('payments');
  const db = new Database(options.file);
  onTestFinished(async () => {
    db.close();
    await remove();
  });
  return (sql: string): string[] => {
    const statement = db.prepare(sql);
    return statement.reader ? statement.columns().map(({ name }) => name) : [];
  };
}

async function postgres() {
  const { options, remove } = await postgresDatabase('payments');
  const client = new pg.Client({ connectionString: options.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await remove();
  });
  return async (sql: string): Promise<string[]> => {
    let place = 0;
    await client.query(`prepare one as ${sql.replaceAll('?', () => `$${++place}`)}`);
    const { rows } = await client.query('select result_types::text[] as types from pg_prepared_statements');
    await client.query('deallocate one');
    return rows[0].types ?? [];
  };
}

/** What is wrong with the columns that a statement gives. */
function faultsOf(
  { columns }: StatementSource,
  names: readonly string[],
  types: readonly string[],
): string[] {
  return columns.flatMap(({ name, kinds }) => {
    const type = types[names.indexOf(name)];
    if (type === undefined) return [`gives no column ${name}`];
    return kinds.includes(KINDS[type] ?? type)
      ? []
      : [`gives ${name} as ${type}, not as ${kinds.join(' | ')}`];
  });
}

test('both databases can prepare every statement of payments, and give the columns of its row type', async () => {
  const [namesOf, typesOf] = [await sqlite(), await postgres()];
  const onPostgres = statementSources('src/payments', standInsOn('postgres'));
  const faults: string[] = [];

  for (const [place, source] of statementSources('src/payments', standInsOn('sqlite')).entries()) {
    for (const [variant, text] of source.texts.entries()) {
      try {
        const types = await typesOf(onPostgres[place]?.texts[variant] ?? '');
        faults.push(...faultsOf(source, namesOf(text), types).map(fault => `${source.place} ${fault}`));
      } catch (error) {
        faults.push(`${source.place} ${error}: ${text}`);
      }
    }
  }

  expect(onPostgres.length).toBeGreaterThan(100);
  expect(faults).toEqual([]);
});

test('rows of SQL text have declared columns only', () => {
  const sources = statementSources('src/payments', standInsOn('sqlite'));
  const free = sources.flatMap(({ place, columns }) =>
    columns
      .filter(({ declaredIn }) => !/^src\/(payments\/tables|db)\//.test(declaredIn))
      .map(({ name }) => `${place} ${name}`),
  );

  expect(free).toEqual([]);
});
