import { setTimeout as delay } from 'node:timers/promises';
import { expect, expectTypeOf, test } from 'vitest';
import { migrate, table } from '../../src/db/migrate.ts';
import type { Db, Transaction } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { bothDatabases } from '../support/databases.ts';
import { givenConnections } from '../support/given-database.ts';

const SCHEMA = [
  {
    name: '1-counters',
    up: [
      table('counters', { id: ['text', 'primary key'], n: ['count', 'not null'] }),
      table('marks', { id: ['text', 'primary key'], by: ['text', 'not null'] }),
    ],
  },
];

bothDatabases('a transaction', databases => {
  const given = givenConnections(databases, {
    isShared: false,
    async prepare(db) {
      await migrate(db, SCHEMA);
      await execute(db, "insert into counters (id, n) values ('a', 0)");
    },
  });

  const read = async (handle: Db | Transaction): Promise<number> => {
    const [row] = await rowsOf<{ n: number }>(handle, "select n from counters where id = 'a'");
    return row?.n ?? Number.NaN;
  };
  const write = (handle: Transaction, n: number) =>
    execute(handle, "update counters set n = ? where id = 'a'", [n]);

  test('that fails is rolled back, runs once and rejects with its own error', async () => {
    let runs = 0;

    const failing = transaction(given.db, async handle => {
      runs += 1;
      await write(handle, 5);
      throw new Error('midway');
    });

    await expect(failing).rejects.toThrow('midway');
    expect(await read(given.db)).toBe(0);
    expect(runs).toBe(1);
  });

  test('resolves with the result of its work once others see its changes', async () => {
    const answer = await transaction(given.db, async handle => {
      await write(handle, 7);
      return 'written';
    });

    expect(answer).toBe('written');
    expect(await read(given.other)).toBe(7);
  });

  test('that reads, waits and writes loses no concurrent updates', async () => {
    const addOne = (on: Db) =>
      transaction(on, async handle => {
        const n = await read(handle);
        await delay(1);
        await write(handle, n + 1);
      });

    await Promise.all(Array.from({ length: 40 }, (_, i) => addOne(i % 2 === 0 ? given.db : given.other)));

    expect(await read(given.db)).toBe(40);
  });

  test('cannot succeed together with a concurrent one that excludes it', async () => {
    const markIfNone = (on: Db, by: string) =>
      transaction(on, async handle => {
        const marks = await rowsOf(handle, 'select id from marks');
        await delay(5);
        if (marks.length === 0) await execute(handle, 'insert into marks (id, by) values (?, ?)', [by, by]);
        return marks.length === 0;
      });

    const marked = await Promise.all([markIfNone(given.db, 'one'), markIfNone(given.other, 'two')]);

    expect(marked.filter(Boolean)).toHaveLength(1);
    expect(await rowsOf(given.db, 'select id from marks')).toHaveLength(1);
  });

  test('of a second process waits for the first, while this process continues', async () => {
    const isHeld = Promise.withResolvers<void>();
    const letGo = Promise.withResolvers<void>();
    const first = transaction(given.db, async handle => {
      await write(handle, (await read(handle)) + 1);
      isHeld.resolve();
      await letGo.promise;
    });
    await isHeld.promise;

    const second = transaction(given.other, async handle => write(handle, (await read(handle)) + 10));
    const before = performance.now();
    await delay(50);
    const waitedMs = performance.now() - before;
    letGo.resolve();
    await Promise.all([first, second]);

    // The driver would block the thread for five seconds.
    expect(waitedMs).toBeLessThan(4_000);
    expect(await read(given.db)).toBe(11);
  });

  test('cannot begin another transaction', () => {
    // Checked by the compiler: a store is created from the handle it receives.
    expectTypeOf<Transaction>().not.toExtend<Db>();
    expectTypeOf(transaction).parameter(0).toEqualTypeOf<Db>();
  });
});
