import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LEADER_MIGRATION, leadership } from '../../src/db/leader.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { type CutNetwork, startNetwork } from '../support/cut-network.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

/** Longer than a busy machine takes to connect and answer. */
const SILENCE_MS = 1_500;

let database: TestDatabase<{ kind: 'postgres'; url: string }>;
let network: CutNetwork;
let db: Db;

beforeEach(async () => {
  database = await postgresDatabase();
  network = await startNetwork(database.options.url);
  db = openDatabase({ kind: 'postgres', url: network.url, silenceMs: SILENCE_MS });
});

afterEach(async () => {
  await db.destroy();
  await network.stop();
  await database.remove();
});

test('a statement without an answer fails, and the next one gets a working connection', async () => {
  await rowsOf(db, 'select 1 as one');
  network.cut();

  await expect(rowsOf(db, 'select 2 as two')).rejects.toThrow(/no answer/);

  expect(await rowsOf(db, 'select 3 as three')).toEqual([{ three: 3 }]);
});

test('a transaction on a network that became silent fails, and the next one runs', async () => {
  const begun = transaction(db, async handle => {
    await handle.raw('select 1');
    network.cut();
    await handle.raw('select 2');
  });

  await expect(begun).rejects.toThrow(/connection error/);
  expect(await transaction(db, handle => rowsOf(handle, 'select 3 as three'))).toEqual([{ three: 3 }]);
});

test('a statement of a migration may be silent for longer', async () => {
  await migrate(db, [{ name: 'slow', up: [`select pg_sleep(${(3 * SILENCE_MS) / 1000})`] }]);

  expect(await rowsOf(db, 'select name from schema_migrations')).toEqual([{ name: 'slow' }]);
});

test('a connection may be idle for longer than the limit for silence', async () => {
  await rowsOf(db, 'select 1 as one');
  await delay(2 * SILENCE_MS);

  expect(await rowsOf(db, 'select 2 as two')).toEqual([{ two: 2 }]);
});

test('a candidate whose election was committed, but not answered, is elected by its next hold', async () => {
  await migrate(db, [LEADER_MIGRATION]);
  let elections = 0;
  const onElected = () => {
    elections += 1;
  };
  const candidate = leadership(db, { name: 'watcher:1', leaseMs: 1_000, clock: manualClock(), onElected });
  network.loseAnswerTo('COMMIT');
  await expect(candidate.hold()).rejects.toThrow();
  const before = elections;

  const held = [await candidate.hold(), await candidate.hold()];

  expect([before, held, elections]).toEqual([0, [true, true], 1]);
});
