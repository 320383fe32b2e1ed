import Database from 'better-sqlite3';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Columns } from '#db/columns.ts';
import { type Dialect, postgresDialect, sqliteDialect } from '#db/dialect.ts';
import { openMigrated } from '#db/migrate.ts';
import { hexColumns } from '#indexer/read/hex-columns.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { postgresDatabase, sqliteDatabase } from '../support/databases.ts';
import { faultsOf, typesOn } from '../support/result-columns.ts';
import { INDEX, type StandIns, statementSources } from '../support/statement-sources.ts';
import { CHAIN_ID } from './support.ts';

const FOLDERS = ['read', 'state', 'sync', 'schema'].map(folder => `${INDEX}${folder}/`);
const isOfIndex = (file: string) => FOLDERS.some(folder => file.startsWith(folder));

/** SQL in place of values known only at run time, by the beginning of the expression. */
const STAND_INS: readonly (readonly [beginning: string, sql: string])[] = [
  ['placeholders(', '?'],
  ['isAmong.sql', 'in (1)'],
  ['handle.dialect.among(', 'is not null'],
  ["TABLES.dirty.key.join(', ')", 'kind, address, holder, token_id'],
  ['lastUpgrades(', 'in (1)'],
  [
    'tokensOf(',
    `with recursive owned (token) as (select token from token_instances) select token from owned`,
  ],
  [
    'idsOf(',
    'with recursive owned (token_id) as (select token_id from token_balances) select token_id from owned',
  ],
  ['isNamed(', 'in (select token from token_terms where term >= ? and term < ? limit ? offset ?)'],
  ["factsOf(['token_creation'])", '8'],
  ['range.sql', 'b.miner = ?'],
  ['range.order', 'b.number desc'],
  ['entries.map(', '(kind = ? and address = ? and holder = ? and token_id = ?)'],
  ['Object.keys(TABLES.blocks.columns)', Object.keys(TABLES.blocks.columns).join(', ')],
  ['statement.sql', 'delete from addresses where address = ?'],
  [
    'wanted .map(',
    'select 0 as place, owner as instance_holder, cast(null as numeric) as instance_value from token_instances',
  ],
  ['part .map(', 'select 0 as place, owner as instance_holder from token_instances'],
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
  'read/search.ts': { looks: 'select 1 as is_found' },
  'read/address-records.ts': {
    looks: "select 'blocks' as found_in from blocks",
    counters: "select 'sent' as counter, count(*) as row_count from blocks",
    sql: 'from_address = ?',
    order: 'id',
  },
  'read/coin-moves.ts': {
    sources:
      'select 0 as place, id >> 20 as in_block, cast(null as bigint) as moved_by, 1 as moves_coins from withdrawals',
  },
  'blocks/blocks.ts': {
    select: 'select b.*, 1 as is_canonical, b.timestamp as parent_timestamp from blocks b',
  },
  'blocks/withdrawals.ts': { sql: 'w.address = ?', order: 'w.withdrawal_index desc' },
  'tokens/holdings.ts': {
    select: 'select token, token_id, cast(null as numeric) as instance_value from token_instances',
    sql: 'owner = ?',
    only: '',
    order: 'token',
  },
  'tokens/instance-list.ts': {
    select: 'select token_id from token_instances',
    sql: 'token = ?',
    only: '',
    order: 'token_id',
  },
  'tokens/nft-collections.ts': {
    table: 'token_instances',
    owner: 'owner',
    only: '',
    'single ': `select token, value from token_balances where token = ? and holder = ? and token_id = ''`,
    counted: 'select 0 as place, count(*) as row_count from token_balances',
    branches: 'select 0 as place, token_id, cast(null as numeric) as instance_value from token_instances',
  },
  'tokens/token-list.ts': {
    'place.sql': 'term = ?',
    'place.order': 'term',
    sql: 'type = ?',
    order: 'holder_rank',
    branches: 'select address, type, name, symbol, decimals, total_supply, holder_count from tokens',
  },
  'tokens/contract-nfts.ts': {
    sql: 'token = ?',
    order: 'token_id',
    'held(handle.dialect)': "select token_id from token_balances where token_id <> ''",
    'part ': 'select 0 as place, value as instance_value from token_balances',
  },
  'tokens/owner-balances.ts': {
    branches: 'select token, token_id, value from token_balances',
    sql: 'holder = ?',
    order: 'token',
  },
  'tokens/token-holders.ts': { sql: 'token = ?', order: 'token' },
  'tokens/nft-transfers.ts': { sql: 'token = ?', order: 'id desc' },
  // Statements that undo rows in a reorganisation run in test/indexer/sync/reorg.slow.test.ts.
  'schema/stale-state.ts': { sql: 'select kind, address, holder, token_id, block from dirty' },
  'sync/reorganisation.ts': { sql: 'delete from blocks where number > ?' },
};

/** Columns that `hexColumns` writes, by the names of their constants. */
const READ_IN_HEX: Readonly<Record<string, Columns>> = {
  transactions: TABLES.transactions.columns,
  token_transfers: TABLES.token_transfers.columns,
};

function standInsOn(dialect: Dialect): StandIns {
  return (expression, place) => {
    const [, hex] = /^(?:handle\.)?dialect\.bytesLiteral\((\w+)\)$/.exec(expression) ?? [];
    if (hex !== undefined) return dialect.bytesLiteral('0x00');
    const [, column] = /^(?:dialect\.)?hex\('(.+)'\)$/.exec(expression) ?? [];
    if (column !== undefined) return dialect.hex(column);
    const [, table = '', alias = ''] =
      /^hexColumns\(dialect, TABLES\.(\w+)\.columns, '(\w+)'\)$/.exec(expression) ?? [];
    const columns = READ_IN_HEX[table];
    if (columns !== undefined) return hexColumns(dialect, columns, alias);
    const [, index] = /^indexedBy\('(\w+)'\)$/.exec(expression) ?? [];
    if (index !== undefined) return dialect.indexedBy(index);
    if (/^(?:handle\.|dialect\.|handle\.dialect\.)?nestedJoin$/.test(expression)) return dialect.nestedJoin;
    const local = Object.entries(LOCAL_STAND_INS).find(([file]) => place.includes(file))?.[1] ?? {};
    const [name = ''] = expression.split('.map(');
    return local[name] ?? STAND_INS.find(([beginning]) => expression.startsWith(beginning))?.[1];
  };
}

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

test('both databases can prepare every statement of the index, and return the columns of its row type', async () => {
  const [namesOf, typesOf] = [await sqlite(), await postgres()];
  const onPostgres = statementSources(standInsOn(postgresDialect), isOfIndex);
  const faults: string[] = [];

  for (const [place, source] of statementSources(standInsOn(sqliteDialect), isOfIndex).entries()) {
    for (const [variant, text] of source.texts.entries()) {
      try {
        const types = await typesOf(onPostgres[place]?.texts[variant] ?? '');
        const given = namesOf(text).map((name, index) => ({ name, type: types[index] }));
        faults.push(...faultsOf(source, given));
      } catch (error) {
        faults.push(`${source.place} ${error}: ${text}`);
      }
    }
  }

  expect(onPostgres.length).toBeGreaterThan(50);
  expect(faults).toEqual([]);
}, 240_000);

test('rows of the index have declared columns only', () => {
  const free = statementSources(standInsOn(sqliteDialect), isOfIndex).flatMap(({ place, columns }) =>
    columns.filter(({ isDeclared }) => !isDeclared).map(({ name }) => `${place} ${name}`),
  );

  expect(free).toEqual([]);
}, 240_000);
