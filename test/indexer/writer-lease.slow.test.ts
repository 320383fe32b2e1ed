import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '../../src/db/open.ts';
import type { ChainIndex, IndexOptions } from '../../src/indexer/index-service.ts';
import { ReplacedWriter, writerLease } from '../../src/indexer/schema/writer-lease.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { PAYMENTS_MIGRATIONS } from '../../src/payments/store/migrations/payments-migrations.ts';
import { until } from '../lab/until.ts';
import { postgresDatabase, sqliteDatabase, urlOf } from '../support/databases.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { CHAIN_ID, log, openTestIndex, startTestChain, type TestChain, temporaryFolder } from './support.ts';

let chain: TestChain;
let database: DatabaseOptions;

beforeAll(async () => {
  chain = await startTestChain();
});

afterAll(() => chain.stop());

beforeEach(async () => {
  const created = await postgresDatabase();
  database = created.options;
  onTestFinished(created.remove);
});

async function opened(options: Partial<IndexOptions> = {}): Promise<ChainIndex> {
  const index = await openTestIndex({ database, client: chain.client, ...options });
  onTestFinished(() => index.stop());
  return index;
}

/** A log that keeps its lines. */
function keptLog() {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => lines.push(line) } });
  return { log, lines };
}

const headOf = async (index: ChainIndex) => (await index.reader.head())?.number ?? null;

describe('of the processes that share an index on PostgreSQL', () => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = manualClock();
  });

  test('one writes, and the others serve what it wrote', async () => {
    const [writer, reader] = [await opened({ clock }), await opened({ clock })];
    await chain.mine();

    expect(await writer.runOnce()).toBeGreaterThan(0);
    expect(await reader.runOnce()).toBe(0);

    expect(reader.status()).toEqual(writer.status());
    expect(reader.revision()).toBe(writer.revision());
    expect(await headOf(reader)).toBe(reader.status().nodeHead);
  });

  test('each says in its log when it begins and ceases to write', async () => {
    const [first, second] = [keptLog(), keptLog()];
    const writer = await opened({ clock, log: first.log });
    const other = await opened({ clock, log: second.log });
    const told = ({ lines }: typeof first) =>
      lines.map(line => JSON.parse(line)).filter(({ msg }) => msg.startsWith('index writer'));
    await writer.runOnce();
    await other.runOnce();
    await writer.runOnce();

    clock.advance(20_000);
    await other.runOnce();
    await writer.runOnce();

    const [started, stopped] = ['index writer started', 'index writer stopped'];
    expect(told(first)).toMatchObject([
      { chainId: CHAIN_ID, msg: started },
      { chainId: CHAIN_ID, msg: stopped },
    ]);
    expect(told(second)).toMatchObject([{ chainId: CHAIN_ID, msg: started }]);
  });

  test('a reader never takes over, and logs it once when the index stands still for a minute behind its node', async () => {
    const { log, lines } = keptLog();
    const [writer, reader] = [await opened({ clock }), await opened({ clock, log, isReadOnly: true })];
    await writer.runOnce();
    await reader.runOnce();
    const told = () => [reader.warning(), lines.filter(line => line.includes('the role indexer')).length];
    const written = told();
    for (const _ of Array(2)) await chain.mine();
    await reader.runOnce();
    clock.advance(59_000);
    await reader.runOnce();
    const soon = told();

    clock.advance(1_000);
    for (const _ of Array(2)) await reader.runOnce();
    const late = told();
    await writer.runOnce();
    await reader.runOnce();

    expect([written, soon, told()]).toEqual([
      [undefined, 0],
      [undefined, 0],
      [undefined, 1],
    ]);
    expect(late).toEqual([expect.stringMatching(/^no process seems to have the role indexer/), 1]);
    expect([reader.isWriter(), writer.isWriter()]).toEqual([false, true]);
  });

  test('another one takes over when the writer has been silent for 15 seconds, and not before', async () => {
    const [first, second] = [await opened({ clock }), await opened({ clock })];
    await first.runOnce();
    await chain.mine();
    clock.advance(14_000);
    expect(await second.runOnce()).toBe(0);
    clock.advance(5_000);

    expect(await second.runOnce()).toBe(1);
  });

  test('another one takes over although its clock was set back by an hour', async () => {
    const [first, second] = [await opened({ clock }), await opened({ clock })];
    await first.runOnce();
    await second.runOnce();
    clock.advance(-3_600_000);
    await chain.mine();
    await first.runOnce();
    await chain.mine();
    clock.advance(15_000);

    expect(await second.runOnce()).toBe(1);
  });

  test('one that was replaced during its work writes nothing more', async () => {
    const [first, second] = [
      await opened({ clock }),
      await opened({ clock: manualClock(clock.now() + 16_000) }),
    ];
    await first.runOnce();
    expect(await second.runOnce()).toBe(0);
    await chain.mine();

    expect(await first.runOnce()).toBe(0);

    expect(await second.runOnce()).toBe(1);
    await first.runOnce();
    expect(first.revision()).toBe(second.revision());
  });

  test('one that stops lets another one take over at once', async () => {
    const [first, second] = [
      await openTestIndex({ database, client: chain.client, clock }),
      await opened({ clock }),
    ];
    await first.runOnce();
    await second.runOnce();
    await first.stop();
    await chain.mine();

    expect(
      await until(
        () => second.runOnce(),
        written => written === 1,
      ),
    ).toBe(1);
  });
});

test('of the processes that share an index in an SQLite file one writes, and another takes over when it ends', async () => {
  const created = await sqliteDatabase();
  onTestFinished(created.remove);
  const both = { database: created.options };
  const [first, second] = [await opened(both), await opened(both)];
  await chain.mine();
  const begun = [(await first.runOnce()) > 0, await second.runOnce()];
  const writers = [first, second].map(index => index.isWriter());
  const shown = [second.revision() === first.revision(), second.status().lag];

  await first.stop();
  await chain.mine();

  expect({ begun, writers, shown }).toEqual({ begun: [true, 0], writers: [true, false], shown: [true, 0] });
  expect([await second.runOnce(), second.isWriter()]).toEqual([1, true]);
});

test('an SQLite file has one writer under all of its names, and no other user can claim it', async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const [file, link] = [join(folder, 'index.db'), join(folder, 'link.db')];
  const first = await opened({ database: { file } });
  await symlink(file, link);
  const second = await opened({ database: { file: link } });

  for (const index of [first, second]) await index.runOnce();

  expect([first, second].map(index => index.isWriter())).toEqual([true, false]);
  expect((await stat(`${file}-writer`)).mode & 0o777).toBe(0o600);
});

test('a stopped writer of an SQLite file writes nothing more', async () => {
  const created = await sqliteDatabase();
  onTestFinished(created.remove);
  const db = openDatabase(created.options);
  onTestFinished(() => db.destroy());
  const unheard = { onElected() {}, onNews() {} };
  const options = { chainId: CHAIN_ID, isReadOnly: false, clock: manualClock(), log, ...unheard };
  const lease = writerLease(db, options);
  const write = () => lease.write(async () => 'written');
  await db.raw('select 1');
  await lease.hold();
  const before = await write();

  await lease.stop();

  expect(before).toBe('written');
  await expect(write()).rejects.toThrow(ReplacedWriter);
});

test('indexes of several chains share one database with the tables of the platform', async () => {
  const other = await startTestChain({ chainId: 31_338 });
  onTestFinished(() => other.stop());
  await withDatabase(db => migrate(db, PAYMENTS_MIGRATIONS));
  const first = await opened();
  const second = await opened({ chain: { id: 31_338, confirmations: 12 }, client: other.client });
  await other.mine();

  await Promise.all([first.runOnce(), second.runOnce()]);

  expect(second.status()).toMatchObject({ head: 1, complete: true });
  expect(first.status()).toMatchObject({ head: first.status().nodeHead, complete: true });
  expect(await withDatabase(db => db.from('transactions').columnInfo())).toHaveProperty('organization_id');
});

test('a role that may only read an index is refused with the setting that names the database', async () => {
  const index = await openTestIndex({ database, client: chain.client });
  await index.stop();
  const role = `reads_${randomBytes(8).toString('hex')}`;
  await withDatabase(async db => {
    await db.raw(`create role ${role} login`);
    await db.raw(`grant usage on schema chain_${CHAIN_ID} to ${role}`);
    await db.raw(`grant select on all tables in schema chain_${CHAIN_ID} to ${role}`);
  });
  const url = urlOf(database).replace('postgres@', `${role}@`);

  const opening = openTestIndex({
    database: { kind: 'postgres', url },
    client: chain.client,
    setting: 'chains[0].backends[0].database',
  });

  await expect(opening).rejects.toMatchObject({
    name: 'CannotStart',
    setting: 'chains[0].backends[0].database',
    message: expect.stringMatching(/^The index of chain 31337 cannot be used: permission denied for table/),
  });
  await withDatabase(db => db.raw(`drop owned by ${role}; drop role ${role}`));
});

async function withDatabase<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
  const db = openDatabase(database);
  return work(db).finally(() => db.destroy());
}

test.each([
  ['in an SQLite file', sqliteDatabase],
  ['on PostgreSQL', postgresDatabase],
] as const)('a standby of an index %s takes over after the writer was killed', async (_, create) => {
  let passedMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + passedMs };
  const created = await create();
  onTestFinished(created.remove);
  const place = { database: created.options };
  const writer = spawn(
    process.execPath,
    [
      new URL('./index-process.ts', import.meta.url).pathname,
      JSON.stringify({ ...place, rpcUrl: chain.rpcUrl }),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  onTestFinished(() => void writer.kill('SIGKILL'));
  await once(writer.stdout, 'data');
  const standby = await opened({ ...place, clock, pollMs: 50 });
  standby.start();
  await standby.whenComplete();
  const stoodBy = !standby.isWriter();
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  await chain.mine();
  const head = Number(await chain.rpc.call('eth_blockNumber'));

  passedMs = 15_000;
  await until(
    async () => standby.status(),
    ({ head: shown, complete }) => shown === head && complete,
  );

  expect(standby.status()).toMatchObject({ head, complete: true });
  expect([stoodBy, standby.isWriter()]).toEqual([true, true]);
});
