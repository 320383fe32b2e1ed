import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { insertRows } from '../../src/db/insert.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Db, openDatabase, transaction } from '../../src/db/open.ts';

const FIRST = { name: '1-things', up: ['create table things (id integer primary key, name text)'] };
const SECOND = { name: '2-colours', up: ['alter table things add column colour text'] };

let folder: string;
let file: string;
let db: Db;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'db-test-'));
  file = join(folder, 'test.sqlite');
  db = openDatabase({ file });
});

afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true });
});

test('migrations run once each, also when more are added later', async () => {
  await migrate(db, [FIRST]);
  await db.raw("insert into things (name) values ('kept')");
  await migrate(db, [FIRST, SECOND]);
  await migrate(db, [FIRST, SECOND]);

  expect(await db.raw('select name, colour from things')).toEqual([{ name: 'kept', colour: null }]);
});

test('a failing migration leaves nothing behind', async () => {
  const broken = { name: '2-broken', up: ['create table half (id integer)', 'create tabel typo'] };

  await expect(migrate(db, [FIRST, broken])).rejects.toThrow(/typo|syntax/);

  expect(await db.raw("select name from sqlite_master where name in ('half', 'things')")).toEqual([]);
});

test('a database of a newer version is refused', async () => {
  await migrate(db, [FIRST, SECOND]);

  await expect(migrate(db, [FIRST])).rejects.toThrow(/2-colours/);
});

test('a transaction that fails is rolled back', async () => {
  await migrate(db, [FIRST]);

  await expect(
    transaction(db, async handle => {
      await handle.raw("insert into things (name) values ('lost')");
      throw new Error('midway');
    }),
  ).rejects.toThrow('midway');

  expect(await db.raw('select * from things')).toEqual([]);
});

test('more rows than one statement takes are all inserted', async () => {
  await migrate(db, [FIRST]);
  const rows = Array.from({ length: 40_000 }, (_, id) => [id, `thing ${id}`]);

  await insertRows(db, { table: 'things', columns: ['id', 'name'] }, rows);

  expect(await db.raw('select count(*) as count, max(id) as last from things')).toEqual([
    { count: 40_000, last: 39_999 },
  ]);
});

test('a read-only connection sees commits, writes nothing, and does not wait for a writer', async () => {
  await migrate(db, [FIRST]);
  const reader = openDatabase({ file, readonly: true });
  try {
    await transaction(db, async handle => {
      await handle.raw("insert into things (name) values ('new')");
      expect(await reader.raw('select * from things')).toEqual([]);
    });

    expect(await reader.raw('select name from things')).toEqual([{ name: 'new' }]);
    await expect(reader.raw("insert into things (name) values ('no')")).rejects.toThrow(/readonly/);
  } finally {
    await reader.destroy();
  }
});
