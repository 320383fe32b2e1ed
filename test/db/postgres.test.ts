import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LEADER_MIGRATION, leadership } from '../../src/db/leader.ts';
import { dueRows, LEASE_COLUMNS } from '../../src/db/lease.ts';
import { migrate, openMigrated, table } from '../../src/db/migrate.ts';
import { type Db, openDatabase, type Transaction } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { lockedTransaction, transaction } from '../../src/db/transaction.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { Unavailable } from '../../src/lib/unavailable.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

let database: TestDatabase<{ kind: 'postgres'; url: string }>;
let db: Db;
/** Roles that the test creates. */
let roles: string[];

beforeEach(async () => {
  roles = [];
  database = await postgresDatabase();
  db = openDatabase(database.options);
});

afterEach(async () => {
  for (const role of roles) await db.raw(`drop owned by ${role}; drop role ${role}`);
  await db.destroy();
  await database.remove();
});

test('every connection works in UTC, under its own name, with limits for statements and idle transactions', async () => {
  const settings =
    "'timezone', 'statement_timeout', 'idle_in_transaction_session_timeout', 'application_name'";

  const rows = await rowsOf(
    db,
    `select name, setting from pg_settings where lower(name) in (${settings}) order by lower(name)`,
  );

  expect(rows).toEqual([
    { name: 'application_name', setting: 'tollgate' },
    { name: 'idle_in_transaction_session_timeout', setting: '10000' },
    { name: 'statement_timeout', setting: '30000' },
    { name: 'TimeZone', setting: 'UTC' },
  ]);
});

test('a connection has the costs of pages that its options say, and the server’s otherwise', async () => {
  const planning = openDatabase({ ...database.options, randomPageCost: 1.1 });
  const cost = "select setting from pg_settings where name = 'random_page_cost'";

  const rows = [await rowsOf(db, cost), await rowsOf(planning, cost)];

  expect(rows).toEqual([[{ setting: '4' }], [{ setting: '1.1' }]]);
  await planning.destroy();
});

test('a transaction that waits for a lock is retried, even if a statement’s limit is as short as a lock’s', async () => {
  await db.raw('create table locked (id integer)');
  const options = { ...database.options, statementTimeoutMs: 1_000, lockTimeoutMs: 10_000 };
  const waiting = openDatabase(options);
  const failed = Promise.withResolvers<void>();
  waiting.on('query-error', () => failed.resolve());
  const lock = (handle: Transaction) => handle.raw('lock table locked in access exclusive mode');

  let waited: Promise<unknown> | undefined;
  await lockedTransaction(db, async handle => {
    await lock(handle);
    waited = lockedTransaction(waiting, lock);
    waited.catch(() => undefined);
    await failed.promise;
  });

  await expect(waited).resolves.toBeDefined();
  await waiting.destroy();
});

test('a single statement is committed on its own, and a transaction is serializable', async () => {
  const level = 'show transaction_isolation';

  expect(await rowsOf(db, level)).toEqual([{ transaction_isolation: 'read committed' }]);
  expect(await transaction(db, handle => rowsOf(handle, level))).toEqual([
    { transaction_isolation: 'serializable' },
  ]);
});

/** A role with these grants on the database, and its address. */
async function roleWith(...grants: string[]) {
  const role = `poor_${randomUUID().slice(0, 8)}`;
  const name = new URL(database.options.url).pathname.slice(1);
  await db.raw(`create role ${role} login`);
  await db.raw(`revoke all on database "${name}" from public`);
  await db.raw(`grant connect on database "${name}" to ${role}`);
  for (const grant of grants) await db.raw(`grant ${grant} to ${role}`);
  roles.push(role);
  const url = new URL(database.options.url);
  url.username = role;
  return url.href;
}

const STEPS = [{ name: 'one', up: ['select 1'] }];
const openWith = (url: string, schema = {}) =>
  openMigrated(
    { kind: 'postgres', url, ...schema },
    { title: 'database', setting: 'a.setting', migrations: STEPS },
  );
const TO_CREATE = 'its role needs the right to create schemas and tables there';
const TO_READ = 'its role needs the right to read and write the tables there';

test.each([
  [{ schema: 'own' }, 'permission denied for database .*'],
  [{}, 'permission denied for schema public'],
])(
  'a role without rights gets one sentence, with a schema of its own (%s) and without',
  async (schema, words) => {
    const opened = openWith(await roleWith(), schema);

    await expect(opened).rejects.toThrow(new RegExp(`^The database cannot be used: ${words}; ${TO_CREATE}$`));
  },
);

test.each([
  ['that may create tables', ['create on schema public']],
  ['that may not', []],
])(
  'on a migrated database a role %s and may not read them is refused with the missing right',
  async (_, grants) => {
    await migrate(db, STEPS);

    const opened = openWith(await roleWith(...grants));

    await expect(opened).rejects.toThrow(
      `The database cannot be used: permission denied for table schema_migrations; ${TO_READ}`,
    );
  },
);

test('the server’s message is shown completely, even with dashes in it', async () => {
  const failing = `do $$ begin raise exception 'one - two - three' using errcode = '42501'; end $$`;
  const migrations = [{ name: 'failing', up: [failing] }];

  const opened = openMigrated(database.options, { title: 'database', setting: 'a.setting', migrations });

  await expect(opened).rejects.toThrow(
    new RegExp(`^The database cannot be used: one - two - three; ${TO_CREATE}$`),
  );
});

test('a candidate does not wait for a leader that hangs within its transaction', async () => {
  await migrate(db, [LEADER_MIGRATION]);
  const clock = manualClock();
  const options = { name: 'index-writer:1', leaseMs: 1_000, clock };
  const [first, second] = [leadership(db, options), leadership(db, options)];
  await first.hold();
  clock.advance(1_000);

  const held = await lockedTransaction(db, async handle => {
    await first.confirm(handle);
    return second.hold();
  });

  expect(held).toBe(false);
});

test('transactions of a leader that check its lease do not wait for each other', async () => {
  await migrate(db, [LEADER_MIGRATION]);
  const leader = leadership(db, { name: 'watcher:1', leaseMs: 1_000, clock: manualClock() });
  await leader.hold();
  const checked = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()];
  const all = Promise.all(checked.map(({ promise }) => promise));

  await Promise.all(
    checked.map(({ resolve }) =>
      transaction(db, async handle => {
        resolve(await leader.check(handle));
        await all;
      }),
    ),
  );

  expect(await all).toEqual([true, true]);
});

test('connections cut by the server are replaced', async () => {
  await Promise.all([rowsOf(db, 'select 1'), rowsOf(db, 'select 1'), rowsOf(db, 'select 1')]);
  const other = openDatabase(database.options);
  try {
    const cut =
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = ?';
    const cuts = await rowsOf(other, cut, [new URL(database.options.url).pathname.slice(1)]);
    expect(cuts.length).toBeGreaterThan(0);
  } finally {
    await other.destroy();
  }

  await expect.poll(() => rowsOf(db, 'select 2 as two').catch(String)).toEqual([{ two: 2 }]);
});

test('a transaction whose connection is cut rejects and is rolled back', async () => {
  await db.raw('create table t (n integer)');

  const cut = transaction(db, async handle => {
    await handle.raw('insert into t (n) values (1)');
    await handle.raw('select pg_terminate_backend(pg_backend_pid())');
  });

  await expect(cut).rejects.toThrow(/terminat/);
  expect(await rowsOf(db, 'select n from t')).toEqual([]);
});

test('a server whose disk is full is unavailable', async () => {
  const write = db.raw("do $$ begin raise exception using errcode = 'disk_full'; end $$");

  await expect(write).rejects.toThrow(Unavailable);
});

test('a missing server is an error of the first statement and in the log, without the password', async () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
  const nowhere = openDatabase({ kind: 'postgres', url: 'postgres://me:hunter2@127.0.0.1:1/none', log });
  try {
    const failure = await rowsOf(nowhere, 'select 1').catch(String);

    expect(failure).toContain('ECONNREFUSED');
    expect(lines.join()).toContain('ECONNREFUSED');
    expect(failure + lines.join()).not.toContain('hunter2');
  } finally {
    await nowhere.destroy();
  }
});

test('due rows are found by their ids, even if the statistics date from when nothing was due', async () => {
  const jobs = table('jobs', { id: ['text', 'primary key'], ...LEASE_COLUMNS });
  const index = 'create index jobs_due on jobs (next_attempt_at) where next_attempt_at is not null';
  await migrate(db, [
    { name: '1-jobs', up: [jobs, index, 'alter table jobs set (autovacuum_enabled = off)'] },
  ]);
  await db.raw("insert into jobs (id) select 'done ' || n from generate_series(1, 20000) n");
  await db.raw('analyze jobs');
  await db.raw(
    "insert into jobs (id, next_attempt_at) select 'due ' || n, 0 from generate_series(1, 2000) n",
  );
  const asked: { sql: string; bindings: (string | number)[] }[] = [];
  db.on('query', statement => asked.push(statement));

  const { rows } = await dueRows('jobs', manualClock()).take(db, { limit: 200, leaseMs: 1_000 });
  const [take] = asked;
  const plan = await rowsOf<{ 'QUERY PLAN': string }>(
    db,
    `explain ${take?.sql.replaceAll(/\$\d+/g, '?')}`,
    take?.bindings,
  );

  expect(rows).toHaveLength(200);
  const steps = plan.map(step => step['QUERY PLAN']);
  expect(steps.filter(step => /Join|Nested Loop/.test(step))).toEqual([]);
  expect(steps.filter(step => /jobs_pkey/.test(step))).toHaveLength(1);
});
