import Database from 'better-sqlite3';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type Dialect, postgresDialect, sqliteDialect } from '../src/db/dialect.ts';
import type { ComputedType } from '../src/db/select/selected-row.ts';
import { TABLES } from '../src/indexer/schema/tables.ts';
import { postgresDatabase, sqliteDatabase, type TestSchema } from './support/databases.ts';
import { selectionSources } from './support/selection-sources.ts';
import type { StandIns } from './support/source-texts.ts';
import { type RowColumn, statementSources } from './support/statement-sources.ts';

/** SQL in place of values known only at run time. */
const STAND_INS: Readonly<Record<string, string>> = {
  sql: '1 = 1',
  'inForce.sql': '1 = 1',
  'where.sql': '1 = 1',
  "tried.join(' union all ')": 'select 0 as part',
  'ids.sql': 'select id from deliveries',
  ids: 'select id from deliveries',
  'orderBy(listOrder)': 'created_at desc, id desc',
  isOwn: '1 = 1',
  'isOwn.sql': '1 = 1',
  table: 'deliveries',
  from: 'deliveries',
  column: 'sealed_body',
  'column.table': 'deliveries',
  'column.column': 'sealed_body',
  "key.join(', ')": 'id',
  "key.map(() => '?').join(', ')": '?',
  "named ?? 'id'": 'id',
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
  "TABLES.dirty.key.join(', ')": 'kind, address, holder, token_id',
  "Object.keys(TABLES.blocks.columns).join(', ')": Object.keys(TABLES.blocks.columns).join(', '),
  'statement.sql': 'delete from addresses where address = ?',
  // Part of a built statement.
  ACTIVE_AMOUNT: '',
  "set.join(', ')": 'success_count = 0',
  "NEWER_OF_AMOUNT.join(' and ')": '1 = 1',
};
/** By the beginning of expressions that are templates themselves. */
const LONG_STAND_INS: readonly (readonly [beginning: string, sql: string])[] = [
  ['placeholders(', '?'],
  ['RULES.map(', "when status = 'expired' then 'expired'"],
  ['addresses.map(', '(?, ?)'],
  ['tasks.map(', '(?, ?, ?)'],
  [
    'Object.entries(COLUMNS)',
    "'' as id, '' as token, '' as status, 1 as response_code, 1 as response_time_ms, 1 as automatic_failures, 1 = 1 as has_failed, '' as last_error, 1 as ended_at, 1 as next_attempt_at",
  ],
  ['columns.map(', 'mode = excluded.mode'],
  ['parts.map(', 'select id from deliveries'],
  ['column.key.map(', 'id = ?'],
  ['[...due, ...ahead]', "select 'deliveries' as topic where exists (select 1 from deliveries)"],
  ["[ of('payment_links'", 'select 1 as used from payment_links'],
  ['among', '?'],
  ["factsOf(['token_creation'])", '8'],
  ['entries.map(', '(kind = ? and address = ? and holder = ? and token_id = ?)'],
  ['keys.map(', '(address = ? and topic0 = ?)'],
  ['tokenTypeColumn(', '1'],
  [
    'sources.map(',
    'select id, status, signed_address, amount, amount_due, tolerance_bps, created_at from checkout_sessions',
  ],
];

/** Same, for expressions that mean something else in a file. */
const LOCAL_STAND_INS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'notification-store.ts': { sql: "(values ('org_1', 'live'))" },
  'compare-counters.ts': {
    sql: 'select cast(holder_count as text) as kept, cast(holder_count as text) as counted from tokens',
    table: 'address_counts',
    "columns.join(', ')": 'token_transfers',
    'placeholders(columns.length + 1)': '?, ?',
    kept: 'block_counters',
    "names.map(name => `${name} = ?`).join(', ')": 'blocks = ?',
  },
  'customer-store.ts': { condition: 'id = ?' },
  'ended-sessions.ts': { condition: 'id = ?' },
  'open-transfers.ts': { column: 'sender' },
  'attempt-store.ts': { 'Object.keys(first)': 'number' },
  'member-store.ts': { table: 'member_sessions' },
  'sign-in-store.ts': { column: 'm.id' },
  'sorted-page.ts': { table: 'checkout_sessions' },
  // Statements that undo rows in a reorganisation run in test/indexer/sync/reorg.slow.test.ts.
  'dirty-state.ts': { sql: 'select kind, address, holder, token_id, block from dirty' },
  'reorganisation.ts': { sql: 'delete from blocks where number > ?' },
};

function standInsOn(dialect: Dialect): StandIns {
  const ofDialect: Readonly<Record<string, string>> = {
    "handle.dialect.exactSum('amount')": dialect.exactSum('amount'),
    "handle.dialect.exactSum('amount_received')": dialect.exactSum('amount'),
    "handle.dialect.exactSum('amount_refunded')": dialect.exactSum('amount'),
    "handle.dialect.exactSum('amount_swept')": dialect.exactSum('amount'),
    'handle.dialect.jsonElements': dialect.jsonElements,
    'idsOf(handle)': `select value ->> 0 from ${dialect.jsonElements}`,
  };
  return (expression, place) => {
    const [, lock] = /^rowLock\((?:scope\.)?handle, '(.+)'\)$/.exec(expression) ?? [];
    if (lock !== undefined) return dialect.name === 'postgres' ? ` ${lock}` : '';
    if (/^(?:handle\.)?dialect\.bytesLiteral\(\w+\)$/.test(expression)) return dialect.bytesLiteral('0x00');
    const [, local] = Object.entries(LOCAL_STAND_INS).find(([file]) => place.includes(`/${file}`)) ?? [];
    const long = LONG_STAND_INS.find(([beginning]) => expression.startsWith(beginning));
    return local?.[expression] ?? long?.[1] ?? ofDialect[expression] ?? STAND_INS[expression];
  };
}

/** Statements of the index that the tests of query plans run on both databases. */
const RUN_ELSEWHERE = ['src/indexer/read/', 'src/indexer/query/'];
/** Tables and statements that only PostgreSQL has. */
const OF_POSTGRES = /\b(?:(?:pg_\w+|unnest|clock_timestamp|current_setting)\(|from pg_\w+)/;

/** Schema of the database that a source file uses. */
function schemaOf(place: string): TestSchema {
  if (place.startsWith('src/indexer/')) return 'index';
  return place.startsWith('src/data/cache/') ? 'cache' : 'payments';
}

/** Prepares statements on SQLite, and returns the names of their columns. */
async function sqlite(schema: TestSchema) {
  const { options, remove } = await sqliteDatabase(schema);
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

/** Prepares statements on PostgreSQL, and returns the types of their columns. */
async function postgres(schema: TestSchema) {
  const { options, remove } = await postgresDatabase(schema);
  const client = new pg.Client({ connectionString: options.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await remove();
  });
  // An index has its own schema.
  await client.query('set search_path = public, chain_31337');
  return async (sql: string): Promise<string[]> => {
    let place = 0;
    await client.query(`prepare one as ${sql.replaceAll('?', () => `$${++place}`)}`);
    const { rows } = await client.query('select result_types::text[] as types from pg_prepared_statements');
    await client.query('deallocate one');
    return rows[0].types ?? [];
  };
}

/** Databases of every schema. Only SQLite stores answers of the data back end. */
async function databases() {
  const [index, payments, cache] = [await sqlite('index'), await sqlite('payments'), await sqlite('cache')];
  return {
    namesOn: { index, payments, cache },
    typesOn: {
      index: await postgres('index'),
      payments: await postgres('payments'),
      cache: () => Promise.resolve(undefined),
    },
  };
}

test('both databases can prepare every statement, and return the columns of its row type', async () => {
  const { namesOn, typesOn } = await databases();
  const onPostgres = statementSources(postgresDialect, standInsOn(postgresDialect), RUN_ELSEWHERE);
  const faults: string[] = [];

  for (const [index, source] of statementSources(
    sqliteDialect,
    standInsOn(sqliteDialect),
    RUN_ELSEWHERE,
  ).entries()) {
    const { place, texts, columns } = source;
    const schema = schemaOf(place);
    for (const [variant, text] of texts.entries()) {
      try {
        const types = await typesOn[schema](onPostgres[index]?.texts[variant] ?? '');
        if (OF_POSTGRES.test(text)) continue;
        const names = namesOn[schema](text);
        faults.push(
          ...columns.flatMap(column => faultOf(column, names, types)).map(fault => `${place} ${fault}`),
        );
      } catch (error) {
        faults.push(`${place} ${error}: ${text}`);
      }
    }
  }

  expect(onPostgres.length).toBeGreaterThan(130);
  expect(faults).toEqual([]);
}, 240_000);

/** Fault of a result against a column of its row type. Types are those of PostgreSQL. */
function faultOf(
  column: RowColumn,
  names: readonly string[],
  types: readonly string[] | undefined,
): string[] {
  const place = names.indexOf(column.name);
  if (place === -1) return [`gives no column ${column.name}`];
  const type = types?.[place];
  if (type === undefined || column.kinds.includes(KINDS[type] ?? type)) return [];
  return [`gives ${column.name} as ${type}, not as ${column.kinds.join(' | ')}`];
}

/** JavaScript types of the values of PostgreSQL's types. */
const KINDS: Readonly<Record<string, string>> = {
  text: 'string',
  'character varying': 'string',
  numeric: 'string',
  bigint: 'number',
  integer: 'number',
  smallint: 'number',
  bytea: 'Buffer',
};

test('the expressions of every selection of an index have the type that it says', async () => {
  const [namesOf, typesOf] = [await sqlite('index'), await postgres('index')];
  const selections = selectionSources('src/indexer/');
  const faults: string[] = [];

  for (const { place, computed, textOn } of selections) {
    const types = await typesOf(textOn(postgresDialect, TABLES));
    const names = namesOf(textOn(WITHOUT_INDEXES, TABLES));
    for (const [name, [type]] of Object.entries(computed)) {
      const given = types[names.indexOf(name)];
      if (given === undefined || !TYPES_GIVEN[type].includes(given))
        faults.push(`${place} ${name}: ${given}`);
    }
  }

  expect(selections.length).toBeGreaterThan(60);
  expect(faults).toEqual([]);
}, 240_000);

/** SQLite uses a partial index only with the condition of its rows, which a selection does not have. */
const WITHOUT_INDEXES: Dialect = { ...sqliteDialect, indexedBy: () => '' };

/** PostgreSQL's types of the results of expressions, by the type that a selection says. */
const TYPES_GIVEN: Readonly<Record<ComputedType, readonly string[]>> = {
  text: ['text'],
  json: ['text'],
  uint256: ['text'],
  hex: ['text'],
  numeric: ['numeric'],
  bytes: ['bytea'],
  count: ['bigint', 'integer'],
  int: ['integer'],
  small: ['smallint'],
  time: ['bigint'],
  boolean: ['boolean'],
};
