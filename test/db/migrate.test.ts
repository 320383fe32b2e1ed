import { afterEach, beforeEach, expect, test } from 'vitest';
import { addColumn, type Migration, migrate, table } from '../../src/db/migrate.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { eachDatabase } from '../support/databases.ts';

const FIRST: Migration = {
  name: '1-things',
  up: [table('things', { id: ['text', 'primary key'], name: ['text', 'not null'] })],
};
const SECOND: Migration = { name: '2-colours', up: [addColumn('things', 'colour', 'text')] };

eachDatabase('migrations', databases => {
  let open: () => Db;
  let opened: Db[];
  let db: Db;

  beforeEach(async () => {
    const options = await databases.create();
    opened = [];
    open = () => {
      const one = openDatabase(options);
      opened.push(one);
      return one;
    };
    db = open();
  });

  afterEach(() => Promise.all(opened.map(one => one.destroy())));

  test('run once each, also when more are added later', async () => {
    await migrate(db, [FIRST]);
    await execute(db, "insert into things (id, name) values ('1', 'kept')");
    await migrate(db, [FIRST, SECOND]);
    await migrate(db, [FIRST, SECOND]);

    expect(await rowsOf(db, 'select * from things')).toEqual([{ id: '1', name: 'kept', colour: null }]);
  });

  test('leave nothing behind when one fails', async () => {
    const broken = { name: '2-broken', up: ['create table half (id integer)', 'create tabel typo'] };

    await expect(migrate(db, [FIRST, broken])).rejects.toThrow(/typo|syntax/);

    await migrate(db, [{ name: '1-half', up: ['create table half (id integer)'] }, FIRST]);
    expect(await rowsOf(db, 'select * from half')).toEqual([]);
  });

  test('refuse a database of a newer version', async () => {
    await migrate(db, [FIRST, SECOND]);

    await expect(migrate(db, [FIRST])).rejects.toThrow(/2-colours/);
  });

  test('run once when several processes start at once', async () => {
    const slow: Migration = {
      name: '3-many',
      up: Array.from({ length: 20 }, (_, i) => table(`many_${i}`, { id: ['text', 'primary key'] })),
    };

    await Promise.all(
      Array.from({ length: 5 }, () => open()).map(one => migrate(one, [FIRST, SECOND, slow])),
    );

    expect(await rowsOf(db, 'select name from schema_migrations order by position')).toEqual([
      { name: '1-things' },
      { name: '2-colours' },
      { name: '3-many' },
    ]);
  });

  test('a table refuses values of another type, a duplicate key and a broken reference', async () => {
    const owned = table('owned', { thing: ['text', 'not null references things (id)'], is_mine: 'boolean' });
    await migrate(db, [FIRST, { name: '2-numbers', up: [table('numbers', { n: 'count' }), owned] }]);
    await execute(db, "insert into things (id, name) values ('1', 'one')");

    await expect(execute(db, 'insert into numbers (n) values (?)', ['many'])).rejects.toThrow(
      /integer|bigint/i,
    );
    await expect(execute(db, "insert into owned (thing) values ('2')")).rejects.toThrow(/foreign key/i);
    await expect(execute(db, "insert into owned (thing, is_mine) values ('1', ?)", ['x'])).rejects.toThrow();
    const duplicate = await execute(db, "insert into things (id, name) values ('1', 'two')").catch(
      (error: unknown) => error,
    );
    expect(db.dialect.violatedColumns(duplicate)).toEqual(['id']);
    expect(db.dialect.violatedColumns(new Error('another'))).toBeUndefined();
  });

  test('the columns of a unique index over several are named when one is violated', async () => {
    const pairs = table('pairs', { a: 'text', b: 'text' }, ['unique (a, b)']);
    await migrate(db, [{ name: '1-pairs', up: [pairs] }]);
    const insert = "insert into pairs (a, b) values ('x, (y)=', 'z')";
    await execute(db, insert);

    const duplicate = await execute(db, insert).catch((error: unknown) => error);

    expect(db.dialect.violatedColumns(duplicate)).toEqual(['a', 'b']);
  });
});
