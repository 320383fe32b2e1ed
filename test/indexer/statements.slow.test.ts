import Database from 'better-sqlite3';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type Dialect, postgresDialect, sqliteDialect } from '#db/dialect.ts';
import { openMigrated } from '#db/migrate.ts';
import type { ComputedType } from '#db/select/selected-row.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { postgresDatabase, sqliteDatabase } from '../support/databases.ts';
import { typesOn } from '../support/result-columns.ts';
import { selectionSources } from '../support/selection-sources.ts';
import type { StandIns } from '../support/source-texts.ts';
import { INDEX, statementSources } from '../support/statement-sources.ts';
import { CHAIN_ID } from './support.ts';

// `reader-query-plan.test.ts` and `postgres-query-plan.test.ts` run every statement of `read`.
const FOLDERS = ['state', 'sync', 'schema'].map(folder => `${INDEX}${folder}/`);
const isOfIndex = (file: string) => FOLDERS.some(folder => file.startsWith(folder));

/** SQL in place of values known only at run time, by the beginning of the expression. */
const STAND_INS: readonly (readonly [beginning: string, sql: string])[] = [
  ['placeholders(', '?'],
  ['among', '?'],
  ["TABLES.dirty.key.join(', ')", 'kind, address, holder, token_id'],
  ["factsOf(['token_creation'])", '8'],
  ['entries.map(', '(kind = ? and address = ? and holder = ? and token_id = ?)'],
  ['keys.map(', '(address = ? and topic0 = ?)'],
  ['tokenTypeColumn(', '1'],
  ['Object.keys(TABLES.blocks.columns)', Object.keys(TABLES.blocks.columns).join(', ')],
  ['statement.sql', 'delete from addresses where address = ?'],
];
/** Same for expressions whose meaning depends on the file. */
const LOCAL_STAND_INS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'state/compare-counters.ts': {
    sql: 'select cast(holder_count as text) as kept, cast(holder_count as text) as counted from tokens',
    table: 'address_counts',
    "columns.join(', ')": 'token_transfers',
    'placeholders(columns.length + 1)': '?, ?',
    kept: 'block_counters',
    names: 'blocks = ?',
  },
  // Statements that undo rows in a reorganisation run in test/indexer/sync/reorg.slow.test.ts.
  'schema/stale-state.ts': { sql: 'select kind, address, holder, token_id, block from dirty' },
  'sync/reorganisation.ts': { sql: 'delete from blocks where number > ?' },
};

function standInsOn(dialect: Dialect): StandIns {
  return (expression, place) => {
    const [, hex] = /^(?:handle\.)?dialect\.bytesLiteral\((\w+)\)$/.exec(expression) ?? [];
    if (hex !== undefined) return dialect.bytesLiteral('0x00');
    const local = Object.entries(LOCAL_STAND_INS).find(([file]) => place.includes(file))?.[1] ?? {};
    const [name = ''] = expression.split('.map(');
    return local[name] ?? STAND_INS.find(([beginning]) => expression.startsWith(beginning))?.[1];
  };
}

const sourcesOn = (dialect: Dialect) =>
  statementSources({ dialect, standIns: standInsOn(dialect), isWanted: isOfIndex });

async function sqlite() {
  const { options, remove } = await sqliteDatabase();
  await (await openMigrated(options, indexSchema(CHAIN_ID, options))).destroy();
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
  const { options, remove } = await postgresDatabase();
  const database = indexOptions(options, CHAIN_ID);
  await (await openMigrated(database, indexSchema(CHAIN_ID, database))).destroy();
  const client = new pg.Client({ connectionString: options.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await remove();
  });
  await client.query(`set search_path = chain_${CHAIN_ID}`);
  return typesOn(client);
}

test('both databases can prepare every statement of the index', async () => {
  const [namesOf, typesOf] = [await sqlite(), await postgres()];
  const onPostgres = sourcesOn(postgresDialect);
  const faults: string[] = [];

  for (const [place, source] of sourcesOn(sqliteDialect).entries()) {
    for (const [variant, text] of source.texts.entries()) {
      try {
        await typesOf(onPostgres[place]?.texts[variant] ?? '');
        namesOf(text);
      } catch (error) {
        faults.push(`${source.place} ${error}: ${text}`);
      }
    }
  }

  expect(onPostgres.length).toBeGreaterThan(15);
  expect(faults).toEqual([]);
}, 240_000);

test('both databases can prepare every selection, and give its expressions the type it says', async () => {
  const [namesOf, typesOf] = [await sqlite(), await postgres()];
  const selections = selectionSources(INDEX);
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
