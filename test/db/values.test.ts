import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  booleanOf,
  exactInteger,
  jsonColumn,
  jsonOf,
  uintColumn,
  uintOf,
  uintSumOf,
} from '../../src/db/columns.ts';
import { migrate, table } from '../../src/db/migrate.ts';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { containing, execute, rowsOf } from '../../src/db/query.ts';
import { insertTyped } from '../../src/db/rows.ts';
import { bothDatabases } from '../support/databases.ts';

interface ValueRow {
  text: string;
  json: string;
  amount: string;
  bytes: Buffer;
  n: number;
  at: number;
  flag: unknown;
}

bothDatabases('values', databases => {
  let db: Db;

  beforeAll(async () => {
    db = openDatabase(await databases.create());
    const columns = {
      text: 'text',
      json: 'json',
      amount: 'uint256',
      bytes: 'bytes',
      n: 'count',
      at: 'time',
      flag: 'boolean',
    } as const;
    await migrate(db, [
      { name: '1', up: [table('things', columns), table('amounts', { amount: 'uint256' })] },
    ]);
  });

  afterAll(() => db.destroy());

  // Characters that a text column of PostgreSQL cannot hold: zero, and halves of surrogate pairs.
  const text = fc.string({ unit: 'binary' }).filter(one => one.isWellFormed() && !one.includes('\0'));
  const safe = fc.maxSafeInteger();

  test('of more rows than one statement holds are all inserted', async () => {
    await execute(db, 'delete from amounts');
    const rows = Array.from({ length: 5_001 }, (_, index) => ({ amount: uintColumn(BigInt(index)) }));

    await insertTyped(db, { table: 'amounts', columns: { amount: 'uint256' } }, rows);

    const [found] = await rowsOf<{ total: unknown; most: string }>(
      db,
      'select count(*) as total, max(amount) as most from amounts',
    );
    expect(exactInteger(found?.total)).toBe(rows.length);
    expect(uintOf(`${found?.most}`)).toBe(5_000n);
  });

  test('of 256 bits are summed exactly', async () => {
    const amount = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.bigInt({ min: 0n, max: 10n ** 24n }),
    );

    await fc.assert(
      fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 50 }), async given => {
        await execute(db, 'delete from amounts');
        for (const one of given) await execute(db, 'insert into amounts values (?)', [uintColumn(one)]);

        const sql = `select ${db.dialect.exactSum('amount')} as amount from amounts`;
        const [sum] = await rowsOf<Pick<ValueRow, 'amount'>>(db, sql);

        expect(uintSumOf(sum?.amount ?? '')).toBe(given.reduce((total, one) => total + one, 0n));
      }),
      {
        numRuns: 30,
        examples: [[[2n ** 256n - 1n, 2n ** 256n - 1n]], [[10n ** 24n, 10n ** 24n - 1n, 0n]], [[10n ** 12n]]],
      },
    );
    await execute(db, 'delete from amounts');
  });

  test('of every type are read back as they were written', async () => {
    const value = fc.record({
      text,
      json: fc.jsonValue({ noUnicodeString: false }),
      amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      bytes: fc.uint8Array(),
      n: safe,
      at: safe,
      flag: fc.boolean(),
    });

    await fc.assert(
      fc.asyncProperty(value, async given => {
        await execute(db, 'delete from things');
        await execute(
          db,
          'insert into things (text, json, amount, bytes, n, at, flag) values (?, ?, ?, ?, ?, ?, ?)',
          [
            given.text,
            jsonColumn(given.json),
            uintColumn(given.amount),
            Buffer.from(given.bytes),
            given.n,
            given.at,
            given.flag,
          ],
        );
        const [row] = await rowsOf<ValueRow>(db, 'select * from things where flag = ?', [given.flag]);
        if (row === undefined) throw new Error('The row is not found by its boolean.');
        expect({
          ...row,
          json: JSON.stringify(jsonOf(row.json)),
          amount: uintOf(row.amount),
          bytes: new Uint8Array(row.bytes),
          flag: booleanOf(row.flag),
        }).toEqual({ ...given, json: JSON.stringify(given.json) });
      }),
      { numRuns: 50 },
    );
  });

  test('that are amounts are sorted and compared in SQL by amount', async () => {
    const amounts = [0n, 9n, 10n, 99n, 100n, 10n ** 18n, 2n * 10n ** 17n, 2n ** 256n - 1n];
    for (const amount of amounts) {
      await execute(db, 'insert into amounts (amount) values (?)', [uintColumn(amount)]);
    }

    const rows = await rowsOf<{ amount: string }>(
      db,
      'select amount from amounts where amount >= ? order by amount',
      [uintColumn(10n)],
    );

    expect(rows.map(row => uintOf(row.amount))).toEqual([
      10n,
      99n,
      100n,
      2n * 10n ** 17n,
      10n ** 18n,
      2n ** 256n - 1n,
    ]);
  });

  test('that are texts are sorted by their bytes', async () => {
    const words = ['b', 'a', 'B', 'é', 'Z', '_', '1', '€', '😀'];
    await execute(db, 'delete from things');
    for (const word of words) await execute(db, 'insert into things (text) values (?)', [word]);

    const rows = await rowsOf<{ text: string }>(db, 'select text from things order by text');

    const byBytes = words.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(rows.map(row => row.text)).toEqual(byBytes);
  });

  test('are found by exactly a text that they contain, with wildcards and letter case taken literally', async () => {
    const texts = ['100% cotton', '100 cotton', 'a_b', 'axb', 'back\\slash', 'ÉTÉ', 'été', 'Coffee'];
    await execute(db, 'delete from things');
    for (const one of texts) await execute(db, 'insert into things (text) values (?)', [one]);
    const found = async (part: string) => {
      const { sql, bindings } = containing(db, 'text', part);
      const rows = await rowsOf<{ text: string }>(
        db,
        `select text from things where ${sql} order by text`,
        bindings,
      );
      return rows.map(row => row.text);
    };

    expect(await found('0% c')).toEqual(['100% cotton']);
    expect(await found('a_b')).toEqual(['a_b']);
    expect(await found('k\\s')).toEqual(['back\\slash']);
    expect(await found('Coff')).toEqual(['Coffee']);
    expect(await found('cOFFEE')).toEqual([]);
    expect(await found('été')).toEqual(['été']);
    expect(await found("' or 1 = 1 --")).toEqual([]);
  });

  test('of counts and sums are numbers', async () => {
    await execute(db, 'delete from things');
    for (const n of [1, 2, 1_793_000_000_000]) await execute(db, 'insert into things (n) values (?)', [n]);

    const [row] = await rowsOf<{ all: unknown; sum: unknown; last: unknown }>(
      db,
      'select count(*) as "all", sum(n) as sum, max(n) as last from things',
    );

    expect(row?.all).toBe(3);
    expect(row?.last).toBe(1_793_000_000_000);
    expect(exactInteger(row?.sum)).toBe(1_793_000_000_003);
  });

  test('that no number can represent exactly are refused, not rounded', () => {
    expect(() => exactInteger('9007199254740993')).toThrow(RangeError);
    expect(() => exactInteger('1.5')).toThrow(RangeError);
    expect(() => exactInteger(null)).toThrow(RangeError);
    expect(() => booleanOf(2)).toThrow(TypeError);
  });

  test('changed by statements are counted', async () => {
    await execute(db, 'delete from things');
    await execute(db, 'insert into things (n) values (1), (2), (3)');

    expect(await execute(db, 'update things set n = n + 1 where n > ?', [1])).toBe(2);
    expect(await execute(db, 'delete from things where n > ?', [100])).toBe(0);
  });
});
