import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { lockedTransaction } from '#db/transaction.ts';
import { type GroupsQuery, QueryTooLarge } from '#indexer/query/query.ts';
import { openQueryPool, type QueryPool, type QueryPoolOptions } from '#indexer/query/threads/pool.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { Unavailable } from '#lib/unavailable.ts';
import { startNetwork } from '#test/support/cut-network.ts';
import { postgresDatabase, type TestDatabase } from '#test/support/databases.ts';
import { startOwnPostgres } from '../../lab/own-postgres.ts';
import { until } from '../../lab/until.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { CHAIN_ID } from '../support.ts';
import { blocks, groups, never, newest } from './pool-fixture.ts';
import { writeIndex } from './random-blocks.ts';

/** Runs for minutes on the server. */
const endless: GroupsQuery = { ...groups, entity: 'events' };
/** Deadline that the server does not reach in a test, so only a cancellation ends a statement. */
const LONG_MS = 600_000;

/** Statements of query threads that run on the server: they sleep there. */
interface ActivityColumns {
  statements: number;
}

describe('queries on a PostgreSQL server', () => {
  let created: TestDatabase;
  let database: DatabaseOptions;
  let db: Db;
  let threads: QueryPool | undefined;

  beforeEach(async () => {
    created = await postgresDatabase();
    database = await writeIndex(created.options, { chainId: CHAIN_ID, blocks });
    db = openDatabase(database);
    await db.raw('alter table logs rename to quick_logs');
    await db.raw('create view logs as select l.* from quick_logs l cross join pg_sleep(600)');
  });

  afterEach(async () => {
    await threads?.close();
    await db.destroy();
    await created.remove();
  });

  function engine(options: Partial<QueryPoolOptions> = {}) {
    threads = openQueryPool({ clock: manualClock(), concurrency: 1, deadlineMs: LONG_MS, ...options });
    return threads.engine(database);
  }

  async function statements(): Promise<number> {
    const [activity] = await rowsOf<ActivityColumns>(
      db,
      `select count(*) as statements from pg_stat_activity
       where datname = current_database() and wait_event = 'PgSleep' and application_name = 'tollgate queries'`,
    );
    return activity?.statements ?? -1;
  }

  const running = () => until(statements, count => count === 1);
  const gone = () => until(statements, count => count === 0);

  test('the deadline ends the statement there, and the thread takes the next query', async () => {
    const clock = manualClock();
    const pool = engine({ clock });
    const late = pool.groups(endless, never).catch((error: unknown) => error);
    await running();

    clock.advance(LONG_MS);

    expect(await late).toEqual(new QueryTooLarge('deadline'));
    expect(await gone()).toBe(0);
    await expect(pool.groups(groups, never)).resolves.toEqual({
      groups: [{ keys: [], folds: [BigInt(blocks.length)] }],
    });
  });

  test('a client that disconnects ends the statement there', async () => {
    const pool = engine();
    const aborts = new AbortController();
    const left = pool.groups(endless, aborts.signal).catch((error: unknown) => error);
    await running();

    aborts.abort(new Error('gone'));

    expect(await left).toEqual(new Error('gone'));
    expect(await gone()).toBe(0);
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('closing ends the statement there', async () => {
    const ended = engine()
      .groups(endless, never)
      .catch((error: unknown) => error);
    await running();

    await threads?.close();

    expect(await ended).toEqual(new Error('the query was ended'));
    expect(await gone()).toBe(0);
  });

  test('the server itself ends a statement at the deadline', async () => {
    const pool = engine({ deadlineMs: 2_000 });

    await expect(pool.groups(endless, never)).rejects.toEqual(new QueryTooLarge('deadline'));
    expect(await gone()).toBe(0);
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('a page and its count come from one snapshot', async () => {
    const pool = engine();
    await db.raw('alter table blocks rename to all_blocks');
    await db.raw('create view blocks as select b.* from all_blocks b cross join pg_sleep(0.3)');
    const page = pool.records({ ...newest, limit: 1 }, never);
    await running();

    // Rows are counted after the page has been read.
    await db.raw('delete from all_blocks where number > 5');

    await expect(page).resolves.toMatchObject({ total: blocks.length });
  });
});

test('a query at its deadline on a network that drops everything fails as an outage, not as too large', async () => {
  const created = await postgresDatabase();
  const network = await startNetwork(created.options.url);
  const through: DatabaseOptions = { ...created.options, url: network.url };
  const database = await writeIndex(through, { chainId: CHAIN_ID, blocks });
  const clock = manualClock();
  const threads = openQueryPool({ clock, concurrency: 1, deadlineMs: LONG_MS });
  const pool = threads.engine(database);
  await pool.records(newest, never);

  const isSwallowed = network.swallow();
  const lost = pool.records(newest, never).catch((error: unknown) => error);
  await isSwallowed;
  clock.advance(LONG_MS);

  expect(await lost).toBeInstanceOf(Unavailable);
  await threads.close();
  await network.stop();
  await created.remove();
});

test('a query on a locked table fails as an outage', async () => {
  const created = await postgresDatabase();
  const database = await writeIndex(created.options, { chainId: CHAIN_ID, blocks });
  const db = openDatabase(database);
  const threads = openQueryPool({ clock: manualClock(), concurrency: 1, deadlineMs: 1_000 });

  const locked = await lockedTransaction(db, async handle => {
    await handle.raw('lock table blocks in access exclusive mode');
    return threads
      .engine(database)
      .records(newest, never)
      .catch((error: unknown) => error);
  });

  expect(locked).toBeInstanceOf(Unavailable);
  await threads.close();
  await db.destroy();
  await created.remove();
});

test('a query on a stopped server fails as an outage, and the next one after its start is answered', async () => {
  await using server = await startOwnPostgres();
  const database = indexOptions({ kind: 'postgres', url: server.url }, CHAIN_ID);
  await writeIndex(database, { chainId: CHAIN_ID, blocks });
  const threads = openQueryPool({ clock: manualClock(), concurrency: 1 });
  const pool = threads.engine(database);
  await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });

  await server.stop();
  await expect(pool.records(newest, never)).rejects.toBeInstanceOf(Unavailable);
  await expect(pool.groups(groups, never)).rejects.toBeInstanceOf(Unavailable);
  await server.start();

  await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  await expect(pool.groups(groups, never)).resolves.toMatchObject({ groups: [{}] });
  await threads.close();
});
