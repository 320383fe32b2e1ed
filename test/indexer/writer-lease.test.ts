import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '../../src/db/open.ts';
import type { ChainIndex, IndexOptions } from '../../src/indexer/index-service.ts';
import { PAYMENTS_MIGRATIONS } from '../../src/payments/store/migrations/payments-migrations.ts';
import { postgresDatabase, urlOf } from '../support/databases.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { until } from '../support/until.ts';
import { CHAIN_ID, openTestIndex, startTestChain, type TestChain } from './support.ts';

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

const headOf = async (index: ChainIndex) => (await index.reader.head())?.number ?? null;

describe('of the processes that have an index on PostgreSQL', () => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = manualClock();
  });

  test('one writes, and the others show what it wrote', async () => {
    const [writer, reader] = [await opened({ clock }), await opened({ clock })];
    await chain.mine();

    expect(await writer.runOnce()).toBeGreaterThan(0);
    expect(await reader.runOnce()).toBe(0);

    expect(reader.status()).toEqual(writer.status());
    expect(reader.revision()).toBe(writer.revision());
    expect(await headOf(reader)).toBe(reader.status().nodeHead);
  });

  test('another one goes on when the writer has been silent for 15 seconds, and not before', async () => {
    const [first, second] = [await opened({ clock }), await opened({ clock })];
    await first.runOnce();
    await chain.mine();
    clock.advance(14_000);
    expect(await second.runOnce()).toBe(0);
    clock.advance(5_000);

    expect(await second.runOnce()).toBe(1);
  });

  test('one that was replaced while it was at it writes nothing more', async () => {
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

  test('one that stops lets another go on at once', async () => {
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

test('indexes of several chains lie in one database, beside the tables of the platform', async () => {
  const other = await startTestChain({ chainId: 31_338 });
  onTestFinished(() => other.stop());
  await withDatabase(db => migrate(db, PAYMENTS_MIGRATIONS));
  const first = await opened();
  const second = await opened({ chain: { id: 31_338, confirmations: 12 }, client: other.client });
  await other.mine();

  await Promise.all([first.runOnce(), second.runOnce()]);

  expect(second.status()).toMatchObject({ head: 1, complete: true });
  expect(first.status()).toMatchObject({ head: first.status().nodeHead, complete: true });
  expect(await withDatabase(db => db('transactions').columnInfo())).toHaveProperty('organization_id');
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

test('a standby goes on after the writer was killed', async () => {
  const leaseMs = 1_500;
  const writer = spawn(
    process.execPath,
    [
      new URL('./index-process.ts', import.meta.url).pathname,
      JSON.stringify({ database, rpcUrl: chain.rpcUrl, leaseMs }),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(writer.stdout, 'data');
  const standby = await opened({ leaseMs, pollMs: 50 });
  standby.start();
  await standby.whenComplete();
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  await chain.mine();
  const head = Number(await chain.rpc.call('eth_blockNumber'));

  await until(
    async () => standby.status(),
    ({ head: shown, complete }) => shown === head && complete,
  );

  expect(standby.status()).toMatchObject({ head, complete: true });
});
