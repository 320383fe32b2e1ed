import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { bothDatabases } from '../support/databases.ts';

bothDatabases('a pool', databases => {
  test('closes its connections when it is destroyed, and refuses later statements', async () => {
    const db = openDatabase(await databases.create());
    await Promise.all(Array.from({ length: 30 }, () => rowsOf(db, 'select 1 as one')));

    await db.destroy();

    await expect(rowsOf(db, 'select 1 as one')).rejects.toThrow();
  });

  test('serves reads within a transaction from the transaction', async () => {
    const db = openDatabase(await databases.create());
    try {
      const rows = await transaction(db, async handle => {
        await handle.raw('create table t (n integer)');
        await handle.raw('insert into t (n) values (1)');
        await delay(1);
        return handle('t').select('n');
      });

      expect(rows).toEqual([{ n: 1 }]);
    } finally {
      await db.destroy();
    }
  });
});
