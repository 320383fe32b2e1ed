import { expect, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { changeInParts, type LeaderTransaction } from '#payments/watcher/look/look.ts';
import { sqliteDatabase } from '../../support/databases.ts';

test('rows whose change keeps conflicting are tried in smaller parts, and the change of a single row fails', async () => {
  const { options, remove } = await sqliteDatabase();
  const db = openDatabase(options);
  const conflict = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
  let attempts = 0;
  const effect: LeaderTransaction = async () => {
    attempts += 1;
    throw attempts > 10 ? new Error('it is tried without end') : conflict;
  };

  const changing = changeInParts({ effect, db }, { name: 'record', rows: [1, 2, 3, 4, 5] }, async () => {});

  await expect(changing).rejects.toBe(conflict);
  expect(attempts).toBe(2);
  await db.destroy();
  await remove();
});
