import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMigrated } from '#db/migrate.ts';
import type { Db } from '#db/open.ts';
import type { PostgresOptions } from '#db/postgres/options.ts';
import { lockedTransaction } from '#db/transaction.ts';
import { postgresQueries } from '#indexer/query/postgres/postgres-engine.ts';
import { QUERY_SETTINGS } from '#indexer/query/postgres/query-connection.ts';
import type { RowsQuery } from '#indexer/query/query.ts';
import type { QuerySession, SqlText } from '#indexer/query/query-dialect.ts';
import { rowsReader } from '#indexer/query/rows.ts';
import { isQuick } from '#indexer/query/threads/pool.ts';
import { claimForChain } from '#indexer/schema/head.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { postgresDatabase, type TestDatabase } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';
import { vacuum } from '../vacuum.ts';
import { query, quickQueries } from './quick-queries.ts';

const BLOCKS = 20_000;
const TRANSACTIONS = 3 * BLOCKS;
/** Most rows that a page may read in total: both sides of a wallet, in each table that it joins. */
const MAX_READ = 600;

/** A wallet and a contract with nine of ten rows, all except the newest, and others with three of the oldest. */
const FREQUENT = word('f1');
const RARE = word('a2');
const [frequent, rare] = [FREQUENT, RARE].map(one => one.slice(0, 42));

function word(byte: string): string {
  return `0x${byte.repeat(32)}`;
}

const bytes = (hex = '') => `decode('${hex.slice(2)}', 'hex')`;
const hashed = (text: string) => `sha256(convert_to(${text}, 'UTF8'))`;
const mostly = (often: string, seldom: string, other: string) =>
  `case when i < 3 then ${seldom} when i < ${0.9 * TRANSACTIONS} then ${often} else ${other} end`;
const each = (columns: string, count = TRANSACTIONS) =>
  `select ${columns} from generate_series(0, ${count - 1}) i`;

const ID = '((i / 3)::bigint << 20) + i % 3';
const AT = '1700000000000 + (i / 3) * 12000::bigint';
const someone = mostly(bytes(frequent), bytes(rare), `substr(${hashed("'one ' || i % 500")}, 1, 20)`);
const topic = mostly(bytes(FREQUENT), bytes(RARE), hashed("'topic ' || i % 500"));
const ROWS = [
  `insert into blocks (number, hash, parent_hash, timestamp, miner, gas_limit, gas_used, difficulty, extra_data, state_root,
     uncles, transaction_count, transaction_fees, priority_fees)
   ${each(
     `i, ${hashed("'block ' || i")}, ${hashed("'block ' || i - 1")}, 1700000000000 + i * 12000::bigint,
     ${mostly(bytes(frequent), bytes(rare), bytes(frequent))}, 1, 1, 0, '', '', '[]', 3, 0, 0`,
     BLOCKS,
   )}`,
  `insert into block_details (number) ${each('i', BLOCKS)}`,
  `insert into transactions (id, hash, timestamp, from_address, to_address, value, nonce, gas_limit, gas_used, gas_price, type,
     fee, input, selector, facts, token_transfer_count)
   ${each(`${ID}, ${hashed("'transaction ' || i")}, ${AT}, ${someone}, ${someone}, i, i, 1, 1, 1, 2, 0, '',
     substr(${topic}, 1, 4), 0, 0`)}`,
  `insert into transaction_details (id, r, s, v) ${each(`${ID}, '', '', 1`)}`,
  `insert into logs (id, transaction_id, timestamp, address, topic0, topic1, topic2, topic3, data)
   ${each(`${ID}, ${ID}, ${AT}, ${someone}, ${topic}, ${topic}, ${topic}, ${topic}, ''`)}`,
  'insert into event_kinds select row_number() over (), address, topic0 from (select distinct address, topic0 from logs) kinds',
  'update logs set kind = k.id from event_kinds k where k.address = logs.address and k.topic0 = logs.topic0',
  'analyze',
] as const;

let created: TestDatabase<PostgresOptions>;
let db: Db;

beforeAll(async () => {
  created = await postgresDatabase();
  // A single connection, which keeps its settings.
  const database = indexOptions({ ...created.options, poolSize: 1 }, CHAIN_ID);
  db = await openMigrated(database, indexSchema(CHAIN_ID, database));
  await lockedTransaction(db, handle => claimForChain(handle, CHAIN_ID));
  for (const table of LARGE) await db.raw(`alter table ${table} set (autovacuum_enabled = off)`);
  for (const sql of ROWS) await db.raw(sql);
  for (const [name, value] of Object.entries(QUERY_SETTINGS)) await db.raw(`set ${name} = '${value}'`);
});

afterAll(async () => {
  await db?.destroy();
  await created?.remove();
});

/** A step of a plan in PostgreSQL's output. */
interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Step[];
}

const LARGE = ['blocks', 'transactions', 'logs', 'block_details', 'transaction_details'];

/** Scans of large tables in a statement's plan, with the rows that each read. */
async function scansOf({ sql, bindings }: SqlText): Promise<{ name: string; rows: number }[]> {
  const values = bindings.map(value => (Buffer.isBuffer(value) ? value : String(value)));
  const { rows } = await db.raw(`explain (analyze, timing off, format json) ${sql}`, values);
  return stepsOf(rows[0]['QUERY PLAN'][0].Plan).flatMap(step => {
    const table = step['Relation Name'] ?? '';
    const read = (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops'];
    return LARGE.includes(table) ? [{ name: `${step['Node Type']} ${table}`, rows: read }] : [];
  });
}

function stepsOf(plan: Step): Step[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)];
}

const rowsOf = rowsReader(postgresQueries);

/** Statement that a query runs: for its page, or for its count when it has no page. */
async function statementOf(asked: RowsQuery): Promise<SqlText> {
  const statements: SqlText[] = [];
  const session: QuerySession = {
    dialect: postgresQueries,
    each: statement => void statements.push(statement),
  };
  await rowsOf(session, asked);
  const [statement] = statements;
  if (statement === undefined) throw new Error('the query runs no statement');
  return statement;
}

const VALUES = [
  ['most rows have', { wallet: `${frequent}`, topic: FREQUENT, selector: FREQUENT.slice(0, 10) }],
  ['three rows have', { wallet: `${rare}`, topic: RARE, selector: RARE.slice(0, 10) }],
] as const;

describe.each(['before', 'after'])('%s a vacuum', when => {
  beforeAll(async () => {
    if (when === 'after') await vacuum(db);
  });

  for (const [which, values] of VALUES)
    for (const [what, asked] of quickQueries({ ...values, hash: word('11') }))
      test.each(['off', 'on'])(
        `${what}, by a value that ${which}: read by an index, seqscan %s`,
        async seqscan => {
          await db.raw(`set enable_seqscan = ${seqscan}`);
          const page = await scansOf(await statementOf(asked));
          const count = await scansOf(await statementOf({ ...asked, limit: 0 }));

          expect(isQuick(asked)).toBe(true);
          expect(page.length).toBeGreaterThan(0);
          expect([...page, ...count].filter(({ name }) => name.startsWith('Seq Scan'))).toEqual([]);
          expect(page.filter(({ rows }) => rows > MAX_READ)).toEqual([]);
          // Before a vacuum, the count sorts a table as small as this one: fewer rows than its cap are expected.
          if (when === 'before') return;
          // One beyond the cap, for both sides of a wallet.
          expect(count.filter(({ rows }) => rows > asked.countUpTo + 1)).toEqual([]);
        },
      );
});

test('the newest rows are read from the end of the chain', async () => {
  for (const entity of ['blocks', 'transactions', 'events'] as const) {
    const scans = await scansOf(await statementOf(query(entity, [])));

    expect(scans.filter(({ rows }) => rows > MAX_READ)).toEqual([]);
  }
});
