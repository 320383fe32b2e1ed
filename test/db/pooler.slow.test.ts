import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import pg from 'pg';
import { test as base, expect } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { startPgBouncer } from '../lab/pgbouncer.ts';
import { postgresDatabase } from '../support/databases.ts';

const SCHEMAS = ['chain_1', 'chain_2'] as const;
const ROUNDS = 30;

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures from the pattern
  .extend('database', async ({}, { onCleanup }) => {
    const database = await postgresDatabase();
    onCleanup(() => database.remove());
    return database;
  })
  .extend('pooler', async ({ database }, { onCleanup }) => {
    const pooler = await startPgBouncer(database.options.url);
    onCleanup(() => pooler[Symbol.asyncDispose]());
    return pooler;
  })
  .extend('open', async ({ pooler }, { onCleanup }) => {
    const opened: Db[] = [];
    onCleanup(async () => void (await Promise.all(opened.map(db => db.destroy()))));
    return (options: { schema?: string } = {}): Db => {
      const db = openDatabase({ kind: 'postgres', url: pooler.url, statementTimeoutMs: 7_000, ...options });
      opened.push(db);
      return db;
    };
  });

test('behind a pooler by transaction, each statement and transaction has its own settings', async ({
  database,
  open,
}) => {
  const direct = openDatabase(database.options);
  for (const schema of SCHEMAS) {
    await direct.raw(`create schema ${schema}; create table ${schema}.names as select '${schema}' as name`);
  }
  await direct.destroy();
  const sql = "select name, current_setting('statement_timeout') as timeout from names";

  const rows = await Promise.all(
    SCHEMAS.map(async schema => {
      const db = open({ schema });
      const all: unknown[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        all.push(...(await rowsOf(db, sql)), ...(await transaction(db, handle => rowsOf(handle, sql))));
      }
      return all;
    }),
  );

  for (const [index, name] of SCHEMAS.entries())
    expect(rows[index]).toEqual(Array.from({ length: 2 * ROUNDS }, () => ({ name, timeout: '7s' })));
});

test('behind a pooler, the driver warns of nothing', async ({ open }) => {
  const warnings: unknown[] = [];
  const note = (warning: Error) => void warnings.push(warning.message);
  process.on('warning', note);
  const db = open();

  await Promise.all([1, 2, 3].map(() => rowsOf(db, 'select 1 as one')));
  await expect(rowsOf(db, 'select nothing')).rejects.toThrow(/nothing/);
  await transaction(db, handle => rowsOf(handle, 'select 1 as one'));
  // Warnings are told in a later turn.
  await setImmediate();
  process.off('warning', note);

  expect(warnings).toEqual([]);
});

test('nothing that we set stays on a connection that the pooler gives to another client', async ({
  pooler,
  open,
}) => {
  const other = new pg.Client(pooler.url);
  await other.connect();
  const settings =
    "select current_setting('search_path') as path, current_setting('statement_timeout') as timeout";
  const before = (await other.query(settings)).rows;
  const db = open({ schema: 'pg_catalog' });

  await Promise.all(Array.from({ length: 6 }, () => rowsOf(db, 'select pg_sleep(0.01)')));
  await transaction(db, handle => rowsOf(handle, 'select 1'));
  const after = await Promise.all(Array.from({ length: 3 }, () => other.query(settings)));
  await other.end();

  for (const { rows } of after) expect(rows).toEqual(before);
});

test('a schema is migrated, a statement that fails leaves nothing, and conflicts are retried', async ({
  open,
}) => {
  const db = open();
  await migrate(db, [{ name: 'counts', up: ['create table counts (count integer not null)'] }]);
  await db('counts').insert({ count: 0 });

  await expect(db.raw('with more as (update counts set count = 5) select 1 / 0')).rejects.toThrow(
    'division by zero',
  );
  await Promise.all(
    Array.from({ length: 4 }, () =>
      transaction(db, async handle => {
        const [row] = await rowsOf<{ count: number }>(handle, 'select count from counts');
        await handle('counts').update({ count: (row?.count ?? 0) + 1 });
      }),
    ),
  );

  expect(await rowsOf(db, 'select count from counts')).toEqual([{ count: 4 }]);
});

test('wake-ups arrive with a listenUrl past the pooler', async ({ database, pooler }) => {
  const options = { kind: 'postgres', url: pooler.url, listenUrl: database.options.url } as const;
  const [first, second] = [openDatabase(options), openDatabase(options)];
  const woken = Promise.withResolvers<void>();
  first.wakeups.on('work', woken.resolve);
  await expect.poll(() => first.wakeups.isListening()).toBe(true);

  second.wakeups.announce(['work']);
  await woken.promise;

  await Promise.all([first.destroy(), second.destroy()]);
});

test('a pooler by statement is refused in one sentence', async ({ database }) => {
  await using byStatement = await startPgBouncer(database.options.url, { mode: 'statement' });
  const db = openDatabase({ kind: 'postgres', url: byStatement.url });

  const error = await rowsOf(db, 'select 1').catch((reason: unknown) => reason);

  expect(inspect(error)).toContain('must pool by transaction or by session');
  await db.destroy();
});
