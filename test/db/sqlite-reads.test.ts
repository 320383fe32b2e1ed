import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { sqliteDatabase, type TestDatabase } from '../support/databases.ts';

const THINGS = { name: '1-things', up: ['create table things (id integer primary key, name text unique)'] };
const NAMES = 'select name from things order by id';

let database: TestDatabase<{ kind: 'sqlite'; file: string }>;
let db: Db;

beforeEach(async () => {
  database = await sqliteDatabase();
  db = openDatabase(database.options);
  await migrate(db, [THINGS]);
});

afterEach(async () => {
  await db.destroy();
  await database.remove();
});

const insert = (name: string, on = db) => execute(on, 'insert into things (name) values (?)', [name]);
const names = async (on = db) => (await rowsOf<{ name: string }>(on, NAMES)).map(({ name }) => name);

/** An open transaction that has inserted a name. */
async function unfinished(name: string): Promise<{ finish(): Promise<void> }> {
  const isWritten = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const done = transaction(db, async handle => {
    await handle.raw('insert into things (name) values (?)', [name]);
    isWritten.resolve();
    await mayEnd.promise;
  });
  await isWritten.promise;
  return {
    finish() {
      mayEnd.resolve();
      return done;
    },
  };
}

test('a read sees every statement before it, from the same Db and from another', async () => {
  const other = openDatabase(database.options);
  try {
    const expected: string[] = [];
    for (let i = 0; i < 100; i++) {
      const by = i % 2 === 0 ? db : other;
      expected.push(`thing ${i}`);
      if (i % 3 === 0) await insert(`thing ${i}`, by);
      else
        await transaction(by, async handle => handle.raw(`insert into things (name) values ('thing ${i}')`));

      expect(await names()).toEqual(expected);
      expect(await names(other)).toEqual(expected);
    }
  } finally {
    await other.destroy();
  }
});

test('a read outside a transaction does not wait for an open one, and does not see its changes', async () => {
  await insert('before');
  const writing = await unfinished('new');

  expect(await names()).toEqual(['before']);

  await writing.finish();
  expect(await names()).toEqual(['before', 'new']);
});

test('a read within a transaction sees the transaction’s changes', async () => {
  const seen = await transaction(db, async handle => {
    await handle.raw("insert into things (name) values ('mine')");
    return rowsOf(handle, NAMES);
  });

  expect(seen).toEqual([{ name: 'mine' }]);
});

test('a statement that writes goes to the writer, and its rows are returned', async () => {
  const rows = await rowsOf(db, 'insert into things (name) values (?) returning name', ['a']);
  const more = await rowsOf(
    db,
    `with given as materialized (select id from things)
     update things set name = ? where id in (select id from given) returning name`,
    ['b'],
  );

  expect([rows, more]).toEqual([[{ name: 'a' }], [{ name: 'b' }]]);
  expect(await names()).toEqual(['b']);
});

test('a cached statement follows changes of the schema, including those of other processes', async () => {
  const other = openDatabase(database.options);
  try {
    await insert('a');
    const all = () => rowsOf(db, 'select * from things');
    expect(await all()).toEqual([{ id: 1, name: 'a' }]);
    await transaction(db, handle => rowsOf(handle, 'select * from things'));

    await other.raw('alter table things add column size integer not null default 3');
    expect(await all()).toEqual([{ id: 1, name: 'a', size: 3 }]);
    expect(await transaction(db, handle => rowsOf(handle, 'select * from things'))).toEqual(await all());

    await other.raw('drop table things');
    await expect(all()).rejects.toThrow('select * from things - no such table: things');
    await other.raw('create table things (other text)');
    await other.raw("insert into things values ('x')");
    expect(await all()).toEqual([{ other: 'x' }]);
  } finally {
    await other.destroy();
  }
});

test('rows and errors match those of knex', async () => {
  await db.raw('create table mixed (i integer, r real, t text, b blob)');
  await db.raw("insert into mixed values (1, 1.5, 'é', x'00ff'), (9007199254740993, 2.0, null, null)");
  const bindings = [true, false, null, 1, 1.5, 2 ** 53, 'text', Buffer.from([0, 255])];
  const asked: [string, (string | number | boolean | Buffer | null)[]][] = [
    ['select * from mixed order by i', []],
    [
      `select ${bindings.map((_, i) => `? as v${i}, typeof(?) as t${i}`).join(', ')}`,
      bindings.flatMap(b => [b, b]),
    ],
    ['with n as (select 1 as one) select one, one as one from n', []],
    ['values (?, ?)', [1, 'b']],
    ['select t, t as "T", count(*) from mixed where t = ?', ['é']],
    ["select '\\?' as mark", []],
    ['select ?? from mixed', ['i']],
  ];
  for (const [sql, values] of asked) expect(await rowsOf(db, sql, values)).toEqual(await db.raw(sql, values));

  const failing: [string, (string | number)[]][] = [
    ['select * from nowhere where a = ?', [1]],
    ['select name from things where name = ?', []],
    ['select name from things', ['surplus']],
    ['select abs(-9223372036854775807 - 1)', []],
    ["select json('{')", []],
    ['selct 1', []],
  ];
  for (const [sql, values] of failing) {
    const knex = await errorOf(db.raw(sql, values));
    const ours = await errorOf(rowsOf(db, sql, values));
    expect(ours).toEqual(knex);
  }
});

test('a violated unique name is reported with its column, and a lock as retryable', async () => {
  const other = openDatabase(database.options);
  const writing = await unfinished('a');
  try {
    await other.raw('pragma busy_timeout = 0');
    const locked = await errorOf(insert('b', other));
    expect(other.dialect.isRetryable(locked)).toBe(true);
  } finally {
    await writing.finish();
    await other.destroy();
  }
  const twice = rowsOf(db, 'insert into things (name) values (?) returning id', ['a']);
  expect(db.dialect.violatedColumns(await errorOf(twice))).toEqual(['name']);
});

test('a listener of a Db is notified of each read once, answered or not', async () => {
  const heard: unknown[] = [];
  db.on('query', ({ sql, bindings }) => heard.push([sql, bindings]));
  db.on('query-response', rows => heard.push(rows));
  await insert('a');
  heard.length = 0;

  await rowsOf(db, 'select name from things where id = ?', [1]);
  await errorOf(rowsOf(db, 'select nothing from things'));

  expect(heard).toEqual([
    ['select name from things where id = ?', [1]],
    [{ name: 'a' }],
    ['select nothing from things', []],
  ]);
});

test('a database in memory is read on its writing connection', async () => {
  const memory = openDatabase({ file: ':memory:' });
  try {
    await migrate(memory, [THINGS]);
    await insert('a', memory);
    expect(await names(memory)).toEqual(['a']);
  } finally {
    await memory.destroy();
  }
});

test('a new file can be read first, also read-only next to its writer', async () => {
  const fresh = await sqliteDatabase();
  const first = openDatabase(fresh.options);
  const reader = openDatabase({ ...fresh.options, readonly: true });
  try {
    expect(await rowsOf(first, 'select count(*) as tables from sqlite_schema')).toEqual([{ tables: 0 }]);
    await migrate(first, [THINGS]);
    for (const name of ['a', 'b', 'c']) {
      await insert(name, first);
      expect(await names(reader)).toEqual(await names(first));
    }
    await expect(rowsOf(reader, "insert into things (name) values ('no') returning id")).rejects.toThrow(
      /readonly/,
    );
  } finally {
    await Promise.all([first.destroy(), reader.destroy()]);
    await fresh.remove();
  }
});

test('a destroyed Db leaves no log file and reads no more', async () => {
  await insert('a');
  await names();
  await db.destroy();

  expect(existsSync(`${database.options.file}-wal`)).toBe(false);
  await expect(names()).rejects.toThrow();
});

test('more statements than the cache holds are all answered, in any order', async () => {
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 500; i++) expect(await rowsOf(db, `select ${i} as n`)).toEqual([{ n: i }]);
  }
});

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}
