import { expect, onTestFinished, test } from 'vitest';
import { clockWarnings, databaseClock, readServerTime } from '#db/database-clock.ts';
import { type DatabaseOptions, type Db, openDatabase, remakeable } from '#db/open.ts';
import { type Clock, serverTime, systemClock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { postgresDatabase, sqliteDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

const NOW = Date.UTC(2026, 4, 4, 12);
const MINUTE_MS = 60_000;
const NAMED = { name: 'this database', log: silentLogger() };

async function opened(
  create: typeof postgresDatabase | typeof sqliteDatabase,
  changed = (options: DatabaseOptions) => options,
): Promise<Db> {
  const { options, remove } = await create();
  const db = openDatabase(changed(options));
  onTestFinished(async () => {
    await db.destroy();
    await remove();
  });
  return db;
}

/** Clock of a machine whose time is wrong. */
function skewed(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms };
}

/** A server and a clock of this process, which the test advances. */
function server() {
  let steadyMs = 1_000;
  const time = serverTime(() => steadyMs);
  return {
    time,
    pass: (ms: number) => {
      steadyMs += ms;
    },
    /** Reads a server that is at `serverMs` after half of the round trip. */
    read(serverMs: number, roundTripMs: number) {
      const askedAt = time.steady();
      steadyMs += roundTripMs;
      time.correct(serverMs + roundTripMs / 2, askedAt);
    },
  };
}

test('a machine 40 minutes ahead goes by the time of PostgreSQL, and is warned', async () => {
  const db = await opened(postgresDatabase);

  const clock = await databaseClock(db, skewed(40 * MINUTE_MS), NAMED);

  expect(Math.abs(clock.now() - systemClock.now())).toBeLessThan(2_000);
  expect(clock.aheadMs()).toBeGreaterThan(39 * MINUTE_MS);
  expect(clockWarnings('the database', clock)).toEqual([
    'the clock of this machine is 2400 s ahead of that of the database',
  ]);
});

test('the database of an index gives the same time, although it reads numbers in another way', async () => {
  const db = await opened(postgresDatabase, options => remakeable(options, 'chain_1'));

  const clock = await databaseClock(db, skewed(40 * MINUTE_MS), NAMED);

  expect(Math.abs(clock.now() - systemClock.now())).toBeLessThan(2_000);
});

test('a machine that is behind is warned too, and one that is right is not', async () => {
  const db = await opened(postgresDatabase);

  const [behind, right] = [
    await databaseClock(db, skewed(-10_000), NAMED),
    await databaseClock(db, systemClock, NAMED),
  ];

  expect(clockWarnings('the database', behind)).toEqual([
    'the clock of this machine is 10 s behind that of the database',
  ]);
  expect(clockWarnings('the database', right)).toEqual([]);
});

test('a clock that a test sets, and the clock of a machine with an SQLite file, stay as they are', async () => {
  const [postgres, sqlite] = [await opened(postgresDatabase), await opened(sqliteDatabase)];
  const manual = manualClock(NOW);

  const ofTest = await databaseClock(postgres, manual, NAMED);
  const ofFile = await databaseClock(sqlite, skewed(MINUTE_MS), NAMED);
  manual.advance(7);

  expect([ofTest.now(), ofTest.aheadMs()]).toEqual([NOW + 7, 0]);
  expect(ofFile.now() - systemClock.now()).toBeGreaterThan(MINUTE_MS - 1_000);
});

test('each reading of PostgreSQL corrects the clock', async () => {
  const db = await opened(postgresDatabase);
  const clock = await databaseClock(db, systemClock, NAMED);
  db.serverTime?.correct(clock.now() + MINUTE_MS, db.serverTime.steady());
  expect(clock.now() - systemClock.now()).toBeGreaterThan(MINUTE_MS - 2_000);

  await readServerTime(db, db);

  expect(Math.abs(clock.now() - systemClock.now())).toBeLessThan(2_000);
});

test('the time of a server is known to half of the round trip, and a slow answer does not make it worse', () => {
  const { time, read } = server();
  expect(time.now()).toBeUndefined();
  read(NOW, 10);
  expect([time.now(), time.uncertaintyMs()]).toEqual([NOW + 10, 5]);

  read(NOW + 10, 8_000);

  expect(Math.abs((time.now() ?? 0) - (NOW + 8_010))).toBeLessThanOrEqual(time.uncertaintyMs());
  expect(time.uncertaintyMs()).toBeLessThanOrEqual(5 + 8);
});

test('the time of a server goes on without readings, and grows uncertain by a millisecond per second', () => {
  const { time, pass, read } = server();
  read(NOW, 10);

  pass(60_000);

  expect([time.now(), time.uncertaintyMs()]).toEqual([NOW + 60_010, 65]);
});

test('a server whose clock was set, or a machine that slept, is followed at the next reading', () => {
  const { time, read } = server();
  read(NOW, 10);

  read(NOW + 3_600_000, 10);
  expect(time.now()).toBe(NOW + 3_600_010);

  read(NOW, 10);
  expect(time.now()).toBe(NOW + 10);
});
