import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { insertRows } from '../../src/db/rows.ts';
import { transaction } from '../../src/db/transaction.ts';
import { Unavailable } from '../../src/lib/unavailable.ts';

const THINGS = { name: '1-things', up: ['create table things (id integer primary key, name text)'] };

let folder: string;
let file: string;
let db: Db;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'db-test-'));
  file = join(folder, 'test.sqlite');
  db = openDatabase({ file });
  await migrate(db, [THINGS]);
});

afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true });
});

test('a commit is flushed unless the database may lose its last ones', async () => {
  const careless = openDatabase({ file, durability: 'normal' });
  try {
    expect(await db.raw('pragma synchronous')).toEqual([{ synchronous: 2 }]);
    expect(await careless.raw('pragma synchronous')).toEqual([{ synchronous: 1 }]);
    expect(await db.raw('pragma journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(await db.raw('pragma foreign_keys')).toEqual([{ foreign_keys: 1 }]);
  } finally {
    await careless.destroy();
  }
});

test('more rows than one statement can insert are all inserted', async () => {
  const rows = Array.from({ length: 40_000 }, (_, id) => [id, `thing ${id}`]);

  await insertRows(db, { table: 'things', columns: ['id', 'name'] }, rows);

  expect(await db.raw('select count(*) as count, max(id) as last from things')).toEqual([
    { count: 40_000, last: 39_999 },
  ]);
});

test('a read-only connection sees commits, writes nothing, and does not wait for a writer', async () => {
  const reader = openDatabase({ file, readonly: true });
  try {
    await transaction(db, async handle => {
      await handle.raw("insert into things (name) values ('new')");
      expect(await reader.raw('select * from things')).toEqual([]);
    });

    const seen = await transaction(reader, handle => handle.raw('select name from things'));
    expect(seen).toEqual([{ name: 'new' }]);
    await expect(reader.raw("insert into things (name) values ('no')")).rejects.toThrow(/readonly/);
  } finally {
    await reader.destroy();
  }
});

test('a transaction that waits for another process has not begun its work', async () => {
  const other = openDatabase({ file });
  const isHeld = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  try {
    const first = transaction(other, async handle => {
      isHeld.resolve();
      await letGo.promise;
      await handle.raw("insert into things (name) values ('first')");
    });
    await isHeld.promise;
    const seen: unknown[] = [];
    const second = transaction(db, async handle => {
      seen.push(await handle.raw('select name from things'));
      await handle.raw("insert into things (name) values ('second')");
    });
    await delay(50);
    expect(seen).toEqual([]);

    letGo.resolve();
    await Promise.all([first, second]);

    expect(seen).toEqual([[{ name: 'first' }]]);
  } finally {
    await other.destroy();
  }
});

test('a write to a full disk fails as unavailable, is undone, and succeeds once there is space', async () => {
  const add = (name: string) =>
    transaction(db, handle => handle.raw('insert into things (name) values (?)', [name]));
  const [{ page_count: pages }] = await db.raw('pragma page_count');
  await db.raw(`pragma max_page_count = ${pages}`);

  await expect(add('x'.repeat(100_000))).rejects.toThrow(Unavailable);
  await db.raw(`pragma max_page_count = ${10 * pages + 100}`);
  await add('y');

  expect(await db.raw('select name from things')).toEqual([{ name: 'y' }]);
});
