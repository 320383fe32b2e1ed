import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { postgresDialect, sqliteDialect } from '#db/dialect.ts';
import { openDatabase } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { readRows, selectFrom, unionAll, unionByStatement } from '#db/select/select.ts';
import { bothDatabases } from '../support/databases.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const DESCRIBED = {
  shops: { columns: { id: 'count', code: 'bytes', name: 'text?' } },
  sales: { columns: { id: 'count', shop: 'count', buyer: 'bytes?', amount: 'uint256' } },
} as const;

interface Tables {
  shops: { id: number; code: Buffer; name: string | null };
  sales: { id: number; shop: number; buyer: Buffer | null; amount: string };
}

const select = selectFrom<Tables>(DESCRIBED);

bothDatabases('a selection', databases => {
  async function filled() {
    const db = openDatabase(await databases.create());
    onTestFinished(() => db.destroy());
    const { dialect } = db;
    const type = (name: 'text' | 'bytes' | 'count') => dialect.columnType(name, 'c');
    await execute(
      db,
      `create table shops (id ${type('count')}, code ${type('bytes')}, name ${type('text')})`,
    );
    await execute(
      db,
      `create table sales (id ${type('count')}, shop ${type('count')}, buyer ${type('bytes')}, amount ${type('text')})`,
    );
    await execute(db, 'insert into shops values (1, ?, ?), (2, ?, null)', [
      Buffer.from('aa', 'hex'),
      'Tea',
      Buffer.from('bb', 'hex'),
    ]);
    await execute(db, "insert into sales values (10, 1, ?, '0112'), (11, 1, null, '0113')", [
      Buffer.from('cc', 'hex'),
    ]);
    return db;
  }

  test('reads columns of one table', async () => {
    const db = await filled();

    const rows = await select({ from: 'shops', columns: ['id', 'name as title'] }).rows(
      db,
      'where id = ?',
      [1],
    );

    expectTypeOf(rows).toEqualTypeOf<{ id: number; title: string | null }[]>();
    expect(rows).toEqual([{ id: 1, title: 'Tea' }]);
  });

  test('reads columns of joined tables, all of one and renamed ones of another', async () => {
    const db = await filled();
    const sales = select({
      from: 'sales s',
      join: ['shops h on h.id = s.shop'],
      columns: ['s.*', 'h.name as shop_name'],
    });

    const rows = await sales.rows(db, 'where s.id = ?', [11]);

    expectTypeOf(rows).toEqualTypeOf<
      { id: number; shop: number; buyer: Buffer | null; amount: string; shop_name: string | null }[]
    >();
    expect(rows).toEqual([{ id: 11, shop: 1, buyer: null, amount: '0113', shop_name: 'Tea' }]);
  });

  test('reads null in the columns of a left join without a match', async () => {
    const db = await filled();
    const shops = select({
      from: 'shops h',
      leftJoin: ['sales s on s.shop = h.id'],
      columns: ['h.id', 's.amount'],
    });

    const rows = await shops.rows(db, 'where h.id = 2');

    expectTypeOf(rows).toEqualTypeOf<{ id: number; amount: string | null }[]>();
    expect(rows).toEqual([{ id: 2, amount: null }]);
  });

  test('reads bytes as hexadecimal digits, and expressions as the type they are given', async () => {
    const db = await filled();
    const sales = select({
      from: 'sales s',
      join: ['shops h on h.id = s.shop'],
      hex: ['s.*', 'h.code as shop_code'],
      computed: { is_first: ['count', '1 - (s.id - 10)'], again: ['hex?', 's.buyer'] },
    });

    const rows = await sales.rows(db, 'order by s.id limit 1');

    expectTypeOf(rows).toEqualTypeOf<
      {
        id: number;
        shop: number;
        buyer: Hex | null;
        amount: string;
        shop_code: Hex;
        is_first: number;
        again: Hex | null;
      }[]
    >();
    const sale = { id: 10, shop: 1, buyer: '0xcc', amount: '0112', shop_code: '0xaa' };
    expect(rows).toEqual([{ ...sale, is_first: 1, again: '0xcc' }]);
  });

  test('is part of a union, whose rows may tell their statement', async () => {
    const db = await filled();
    const sale = select({ from: 'sales', columns: ['amount'] });
    const of = (id: number) => sale.query(db, 'where id = ?', [id]);

    const rows = await readRows(db, unionAll([of(10), of(11)]));
    const placed = await readRows(db, unionByStatement([of(11), of(12), of(10)]));

    expect(rows.map(({ amount }) => amount).toSorted()).toEqual(['0112', '0113']);
    expect(new Map(placed.map(({ statement, amount }) => [statement, amount]))).toEqual(
      new Map([
        [0, '0113'],
        [2, '0112'],
      ]),
    );
  });
});

test('a selection keeps the order of joins and uses the named index on SQLite only', () => {
  const sales = select({
    from: 'shops h',
    join: ['sales s on s.shop = h.id'],
    indexedBy: { s: 'sales_by_shop' },
    columns: ['s.id'],
  });

  expect(sales.query({ dialect: sqliteDialect }, 'where h.id = 1').sql).toBe(
    'select s.id from shops h cross join sales s indexed by sales_by_shop on s.shop = h.id where h.id = 1',
  );
  expect(sales.query({ dialect: postgresDialect }, 'where h.id = 1').sql).toBe(
    'select s.id from shops h join sales s on s.shop = h.id where h.id = 1',
  );
});

/** Files with reads whose rows have a type that nothing derives, and their number. */
const ASSERTED = {
  // Pragmas, and a table that every database has.
  'src/data/cache/sqlite-store.ts': 2,
  'src/db/migrate.ts': 1,
  // Any table, or any column.
  'src/db/lease.ts': 2,
  'src/payments/secrets/key-rotation.ts': 1,
  'src/payments/store/list-query.ts': 2,
  // The type comes with the statement.
  'src/db/select/select.ts': 1,
  // Parts that are composed at run time, subqueries and unions without duplicates.
  'src/payments/events/missed-events.ts': 1,
  'src/payments/sessions/suggested-session.ts': 1,
  'src/payments/store/look-records.ts': 1,
};

test('the types of rows follow from selections, with a few exceptions', () => {
  const sending = ['src/db/query.ts', 'src/db/sqlite-reads.ts'];
  const found = globSync('src/**/*.ts', { cwd: ROOT })
    .filter(file => !sending.includes(file))
    .map(file => [file, readFileSync(join(ROOT, file), 'utf8').match(/\browsOf</g)?.length ?? 0])
    .filter(([, count]) => count !== 0);

  expect(Object.fromEntries(found)).toEqual(ASSERTED);
});
