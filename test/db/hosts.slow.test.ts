import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMigrated } from '../../src/db/migrate.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { indexOptions, indexSchema } from '../../src/indexer/schema/migrations/index-migrations.ts';
import { testEngine } from '../indexer/query/opened-engine.ts';
import { query } from '../indexer/query/quick-queries.ts';
import { type OwnPostgres, startOwnPostgres } from '../lab/own-postgres.ts';
import { until } from '../lab/until.ts';

let primary: OwnPostgres;
let standbyUrl: string;
/** Address of both servers. The standby comes first. */
let url: string;
let open: Db[];

beforeEach(async () => {
  primary = await startOwnPostgres();
  standbyUrl = await primary.addStandby();
  const hosts = [standbyUrl, primary.url].map(one => encodeURIComponent(socketFolder(one)));
  url = `postgres://postgres@${hosts.join(',')}/postgres?target_session_attrs=read-write`;
  open = [];
});

afterEach(async () => {
  await Promise.all(open.map(db => db.destroy()));
  await primary[Symbol.asyncDispose]();
});

test('the primary is found among several hosts, and its successor after a failover', async () => {
  const database = indexOptions({ kind: 'postgres', url }, 31_337);
  const db = kept(await openMigrated(database, indexSchema(31_337, database)));
  const engine = await testEngine(database);
  const other = kept(openDatabase(database));
  const heard = new Set<string>();
  db.wakeups.on('work', () => heard.add('work'));
  await until(async () => db.wakeups.isListening(), Boolean);
  const before = await engine.run(query('blocks', []));

  await primary.stop();
  await sentTo(standbyUrl, 'select pg_promote()');
  const written = await untilWritten(db);
  const after = await until(
    () => engine.run(query('blocks', [])).catch(() => undefined),
    answer => answer !== undefined,
  );
  await until(async () => {
    other.wakeups.announce(['work']);
    return heard.size;
  }, Boolean);

  expect(written).toBe(true);
  expect(after).toEqual(before);
  expect([...heard]).toEqual(['work']);
  await engine.close();
});

test('a server that was made read-only is left for the one that can be written', async () => {
  const db = kept(openDatabase({ kind: 'postgres', url }));
  expect(await untilWritten(db)).toBe(true);

  await sentTo(standbyUrl, 'select pg_promote()');
  await sentTo(primary.url, 'alter system set default_transaction_read_only = on');
  await sentTo(primary.url, 'select pg_reload_conf()');
  await until(
    () => rowsOf(db, 'show transaction_read_only').catch(() => []),
    ([row]) => JSON.stringify(row)?.includes('on') === true,
  );

  expect(await untilWritten(db)).toBe(true);
});

test('while no host can be written the error names the reason of each', async () => {
  await primary.stop();
  const db = kept(openDatabase({ kind: 'postgres', url }));

  const error = await db.raw('select 1').catch((reason: unknown) => reason);

  expect(error).toMatchObject({
    name: 'Unavailable',
    cause: {
      errors: [
        { message: `${socketFolder(standbyUrl)} can only be read` },
        { message: expect.stringContaining('ENOENT') },
      ],
    },
  });
});

function kept(db: Db): Db {
  open.push(db);
  return db;
}

/** Writes until that succeeds. */
function untilWritten(db: Db): Promise<boolean> {
  const name = randomUUID().replaceAll('-', '');
  return until(
    () =>
      transaction(db, handle => handle.raw(`create table "${name}" (id integer)`)).then(
        () => true,
        () => false,
      ),
    Boolean,
  );
}

function socketFolder(one: string): string {
  return new URL(one).searchParams.get('host') ?? '';
}

async function sentTo(one: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: one });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}
