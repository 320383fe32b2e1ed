import { chmod, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { execute } from '../../src/db/query.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { bothDatabases, sqliteDatabase } from '../support/databases.ts';

const SECRET = 'ada@private.example';

bothDatabases('an error of a statement', databases => {
  test('contains none of the values that were bound to it, thrown or logged', async () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'debug', destination: { write: line => void lines.push(line) } });
    const db = openDatabase({ ...(await databases.create()), log });
    await db.raw(
      'create table people (mail text not null primary key, age integer not null check (age > 0))',
    );
    await execute(db, 'insert into people (mail, age) values (?, ?)', [SECRET, 7]);

    for (const [sql, bindings] of [
      ['insert into people (mail, age) values (?, ?)', [SECRET, 8]],
      ['insert into people (mail, age) values (?, ?)', [`${SECRET} too`, -1]],
      ['insert into people (mail, age) values (?, null)', [`${SECRET} as well`]],
      ['select * from nothing where mail = ?', [SECRET]],
    ] as const) {
      const error: unknown = await execute(db, sql, bindings).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(String(error)).not.toContain(SECRET);
      log.error({ err: error }, 'failed');
    }
    await db.destroy();

    expect(lines.length).toBeGreaterThanOrEqual(4);
    expect(lines.join('')).not.toContain(SECRET);
  });
});

test('the files of an SQLite database are readable only by their owner, also in an existing folder', async () => {
  const database = await sqliteDatabase();
  const folder = dirname(database.options.file);
  await chmod(folder, 0o755);
  const first = openDatabase(database.options);
  await first.raw('create table t (n integer)');
  const modes = async () =>
    Promise.all((await readdir(folder)).map(async name => (await stat(join(folder, name))).mode & 0o777));
  const made = await modes();
  for (const name of await readdir(folder)) await chmod(join(folder, name), 0o644);

  const second = openDatabase(database.options);
  await second.raw('insert into t values (1)');
  const mended = await modes();
  await first.destroy();
  await second.destroy();
  await database.remove();

  expect(made).toEqual([0o600, 0o600, 0o600]);
  expect(mended).toEqual([0o600, 0o600, 0o600]);
});
