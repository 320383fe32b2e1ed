import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addColumn, type Migration, migrate, schemaFault, table } from '../../src/db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { VERSION } from '../../src/lib/version.ts';
import { until } from '../lab/until.ts';
import { bothDatabases } from '../support/databases.ts';

const MIGRATING = fileURLToPath(new URL('migrating-process.ts', import.meta.url));
const FIRST: Migration = {
  name: '1-things',
  up: [table('things', { id: ['text', 'primary key'], name: ['text', 'not null'] })],
};
const [major = 0, minor = 0, patch = 0] = VERSION.split('.').map(Number);
const SECOND: Migration = { name: '2-colours', up: [addColumn('things', 'colour', 'text')] };

bothDatabases('migrations', databases => {
  let options: DatabaseOptions;
  let open: () => Db;
  let opened: Db[];
  let db: Db;

  beforeEach(async () => {
    options = await databases.create();
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

  test('are rolled back when one fails', async () => {
    const broken = { name: '2-broken', up: ['create table half (id integer)', 'create tabel typo'] };

    await expect(migrate(db, [FIRST, broken])).rejects.toThrow(/typo|syntax/);

    await migrate(db, [{ name: '1-half', up: ['create table half (id integer)'] }, FIRST]);
    expect(await rowsOf(db, 'select * from half')).toEqual([]);
  });

  test('let a program without the last steps keep running, until one of them requires a newer version', async () => {
    await migrate(db, [FIRST, SECOND]);

    await migrate(open(), [FIRST]);
    const before = await schemaFault(db, [FIRST]);
    await migrate(open(), [FIRST, SECOND, { name: '3-last', up: [], servesFrom: '7.2.0' }]);

    const refusal = 'Its schema serves tollgate 7.2.0 and newer, since the step "3-last".';
    expect(before).toBeUndefined();
    expect(await schemaFault(db, [FIRST])).toBe(refusal);
    await expect(migrate(open(), [FIRST, SECOND])).rejects.toThrow(refusal);
  });

  test.each<[string, NonNullable<Migration['servesFrom']>, boolean]>([
    ['an older version', '0.0.9', false],
    ['this version', `${major}.${minor}.${patch}`, false],
    ['a newer version', `${major}.${minor}.${patch + 10}`, true],
    ['a version that is newer by number and older as text', `${major}.${minor + 10}.0`, true],
  ])('that serve %s (%s) and newer refuse this one: %s', async (_, servesFrom, isRefused) => {
    await migrate(db, [FIRST, { name: '2-step', up: [], servesFrom }, SECOND]);

    const fault = await schemaFault(db, [FIRST]);
    const started = await migrate(open(), [FIRST]).then(
      () => false,
      () => true,
    );

    expect([fault !== undefined, started]).toEqual([isRefused, isRefused]);
  });

  test('refuse by the newest version that any unknown step requires', async () => {
    const steps = (['8.2.0', '7.3.0'] as const).map((servesFrom, n) => ({
      name: `${n}`,
      up: [],
      servesFrom,
    }));
    await migrate(db, [FIRST, ...steps]);

    expect(await schemaFault(db, [FIRST])).toContain('serves tollgate 8.2.0 and newer');
  });

  test('refuse a database with the history of another program', async () => {
    await migrate(db, [FIRST, { name: '2-shapes', up: [] }]);

    await expect(migrate(db, [FIRST, SECOND])).rejects.toThrow(/version does not know \(2-shapes\)/);
  });

  test('continue a database from before steps had a required version', async () => {
    await db.raw('create table schema_migrations (name text primary key, position integer not null)');
    await db.raw('create table things (id text primary key, name text not null)');
    await execute(db, "insert into schema_migrations (name, position) values ('1-things', 0)");

    await migrate(db, [FIRST]);
    await migrate(db, [FIRST, SECOND]);
    await migrate(db, [FIRST, SECOND, { name: '3-last', up: [], servesFrom: '7.2.0' }]);

    const steps = await rowsOf(db, 'select * from schema_migrations order by position');
    expect(steps).toEqual([
      { name: '1-things', position: 0, serves_from: null },
      { name: '2-colours', position: 1, serves_from: null },
      { name: '3-last', position: 2, serves_from: '7.2.0' },
    ]);
  });

  test('that a kill -9 interrupted are applied by the next process', async () => {
    await migrate(db, [FIRST]);
    const migrating = spawn(process.execPath, [MIGRATING, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(migrating, 'exit');
    await once(migrating.stdout, 'data');
    if (databases.kind === 'postgres')
      await until(
        () => sleeping(db),
        ({ length }) => length > 0,
      );
    const waiting = migrate(open(), [FIRST, { name: '2-held', up: ['create table held (id text)'] }]);

    migrating.kill('SIGKILL');
    await waiting;

    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(await rowsOf(db, 'select * from held')).toEqual([]);
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

  test('a violated unique index over several columns is reported with its columns', async () => {
    const pairs = table('pairs', { a: 'text', b: 'text' }, ['unique (a, b)']);
    await migrate(db, [{ name: '1-pairs', up: [pairs] }]);
    const insert = "insert into pairs (a, b) values ('x, (y)=', 'z')";
    await execute(db, insert);

    const duplicate = await execute(db, insert).catch((error: unknown) => error);

    expect(db.dialect.violatedColumns(duplicate)).toEqual(['a', 'b']);
  });
});

/** Connections that are within the step that takes a minute. */
function sleeping(db: Db): Promise<unknown[]> {
  return rowsOf(
    db,
    `select pid from pg_stat_activity
     where datname = current_database() and state = 'active' and query = 'select pg_sleep(60)'`,
  );
}
