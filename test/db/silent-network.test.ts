import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LEADER_MIGRATION, leadership } from '../../src/db/leader.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { postgresDatabase, type TestDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

/** Longer than a busy machine takes to connect and answer. */
const SILENCE_MS = 1_500;

let database: TestDatabase<{ kind: 'postgres'; url: string }>;
let network: Awaited<ReturnType<typeof startNetwork>>;
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

/** A proxy to a PostgreSQL server that delivers nothing once it is `cut`, like a network that drops packets. */
async function startNetwork(target: string) {
  const socketPath = `${new URL(target).searchParams.get('host')}/.s.PGSQL.5432`;
  const pairs = new Set<readonly [Socket, Socket]>();
  let unanswered: string | undefined;
  const server = createServer(client => {
    const backend = connect(socketPath);
    const pair = [client, backend] as const;
    pairs.add(pair);
    client.on('data', chunk => {
      if (unanswered === undefined || !chunk.includes(unanswered)) return;
      unanswered = undefined;
      backend.unpipe(client);
      backend.once('data', () => client.destroy());
    });
    for (const [one, other] of [pair, [backend, client] as const]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `postgres://postgres@127.0.0.1:${port}${new URL(target).pathname}`,
    /** Drops everything from the current connections. Later ones work. */
    cut() {
      for (const [client, backend] of pairs) {
        client.unpipe(backend);
        backend.unpipe(client);
        client.resume();
        backend.resume();
      }
    },
    /** Ends the connection of the next statement with this text when the server has run it. */
    loseAnswerTo(text: string) {
      unanswered = text;
    },
    async stop() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a statement without an answer fails, and the next one gets a working connection', async () => {
  await rowsOf(db, 'select 1 as one');
  network.cut();

  const startedAt = performance.now();
  await expect(rowsOf(db, 'select 2 as two')).rejects.toThrow(/no answer/);

  expect(performance.now() - startedAt).toBeLessThan(10 * SILENCE_MS);
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
