import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { connecting } from '../../src/db/postgres/connection.ts';
import type { PostgresOptions } from '../../src/db/postgres/options.ts';
import { rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { postgresWakeups } from '../../src/db/wakeups.ts';
import { announce, lookPauseMs, startWokenWorker } from '../../src/db/woken-worker.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger, silentLogger } from '../../src/lib/logger.ts';
import { until as untilRight } from '../lab/until.ts';
import { postgresDatabase, sqliteDatabase, type TestDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

let database: TestDatabase<{ kind: 'postgres'; url: string }>;
let open: Db[];

beforeEach(async () => {
  database = await postgresDatabase();
  open = [];
});

afterEach(async () => {
  await Promise.all(open.map(db => db.destroy()));
  await database.remove();
});

/** The database as opened by one more process. */
function opened(options: Partial<PostgresOptions> = {}): Db {
  const db = openDatabase({ ...database.options, ...options });
  open.push(db);
  return db;
}

/** Waits until a fact is true. */
async function until(holds: () => boolean): Promise<void> {
  expect(
    await untilRight(
      async () => holds(),
      isSo => isSo,
    ),
  ).toBe(true);
}

/** Condition for the listening connections of this test. Other tests use the same server. */
const LISTENING = "datname = current_database() and query = 'listen tollgate'";

/** Another listening connection, with its own clock and log. */
function listener(db: Db) {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
  const connect = connecting(database.options);
  return { wakeups: postgresWakeups({ knex: db, connect, clock, log }), clock, lines };
}

/** Number of announcements of a topic to one process. */
async function listeningTo(topic: string, db: Db) {
  const heard = { times: 0 };
  db.wakeups.on(topic, () => {
    heard.times += 1;
  });
  await until(() => db.wakeups.isListening());
  heard.times = 0;
  return heard;
}

test('a transaction’s announcements wake every process after its commit', async () => {
  const heard = await listeningTo('events', opened());
  const writer = opened();

  const seenInside = await transaction(writer, async handle => {
    announce(handle, 'events');
    announce(handle, 'events');
    await handle.raw('select 1');
    return heard.times;
  });

  await until(() => heard.times > 0);
  expect({ seenInside, times: heard.times }).toEqual({ seenInside: 0, times: 1 });
});

test('a rolled-back transaction wakes no process', async () => {
  const heard = await listeningTo('events', opened());
  const writer = opened();

  const failed = transaction(writer, async handle => {
    announce(handle, 'events');
    await handle.raw('select 1');
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  announce(writer, 'other');
  announce(writer, 'events');

  await until(() => heard.times > 0);
  expect(heard.times).toBe(1);
});

test('a process is woken by its own announcements, on SQLite too', async () => {
  const sqlite = await sqliteDatabase();
  const db = openDatabase(sqlite.options);
  let times = 0;
  const forget = db.wakeups.on('events', () => {
    times += 1;
  });

  await transaction(db, async handle => {
    announce(handle, 'events');
    await handle.raw('select 1');
  });
  forget();
  announce(db, 'events');
  await db.destroy();
  await sqlite.remove();

  expect(times).toBe(1);
});

test('a process that lost its connection listens again, and looks for missed changes', async () => {
  const db = opened();
  const heard = await listeningTo('events', db);
  const other = opened();

  await other.raw(`select pg_terminate_backend(pid) from pg_stat_activity where ${LISTENING}`);
  await until(() => !db.wakeups.isListening());
  await until(() => db.wakeups.isListening());

  expect(heard.times).toBe(1);
});

test('a listening connection survives a silence longer than a statement may have', async () => {
  const silenceMs = 500;
  const db = opened({ silenceMs });
  const heard = await listeningTo('events', db);

  await delay(3 * silenceMs);

  // Listening again would have woken it.
  expect(heard.times).toBe(0);
  expect(db.wakeups.isListening()).toBe(true);
});

test('a process that is repeatedly cut off listens again one second later, and logs each loss', async () => {
  const { wakeups, clock, lines } = listener(opened());
  const other = opened();
  wakeups.on('events', () => {});
  await until(() => wakeups.isListening());

  for (let count = 0; count < 6; count++) {
    await other.raw(`select pg_terminate_backend(pid) from pg_stat_activity where ${LISTENING}`);
    await until(() => !wakeups.isListening());
    await until(() => clock.sleepers() > 0);
    clock.advance(1_000);
    await until(() => wakeups.isListening());
  }
  await wakeups.close();

  expect(lines.filter(line => line.includes('the listening connection was lost'))).toHaveLength(6);
});

test('an exhausted pool does not make the listening connection look like one behind a pooler', async () => {
  const db = opened({ poolSize: 2 });
  const { wakeups, clock, lines } = listener(db);
  const release = Promise.withResolvers<void>();
  const busy = [1, 2].map(() =>
    transaction(db, handle => handle.raw('select 1').then(() => release.promise)),
  );
  await until(() => db.client.pool.numUsed() === 2);

  wakeups.on('events', () => {});
  await untilRight(
    () => rowsOf(opened(), `select 1 from pg_stat_activity where ${LISTENING}`),
    found => found.length > 0,
  );
  clock.advance(10_000);
  release.resolve();
  await Promise.all(busy);
  await until(() => wakeups.isListening());
  await wakeups.close();

  expect(lines).toEqual([]);
});

test('a worker polls rarely while it listens, and often where no announcement arrives', async () => {
  const elsewhere = await postgresDatabase();
  const listening = opened();
  // As behind a pooler: the connection exists, and receives nothing.
  const deaf = opened({ listenUrl: elsewhere.options.url });
  await listeningTo('events', listening);
  deaf.wakeups.on('events', () => {});

  const pauses = { listening: lookPauseMs(listening, 200), deaf: lookPauseMs(deaf, 200) };
  await deaf.destroy();
  await elsewhere.remove();

  expect(pauses).toEqual({ listening: 60_000, deaf: 200 });
});

test('an idle worker starts at once when its topic is announced in another process', async () => {
  const db = opened();
  let runs = 0;
  const worker = startWokenWorker(
    {
      name: 'counter',
      async runOnce() {
        runs += 1;
        return 0;
      },
    },
    { db, topic: 'events', pauseMs: 3_600_000, clock: systemClock, log: silentLogger() },
  );
  await until(() => db.wakeups.isListening());
  await until(() => runs >= 2);
  const before = runs;

  announce(opened(), 'events');
  await until(() => runs > before);
  await worker.stop();
});
