import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { contractCoinsOf, cursorStore } from '#payments/store/cursor-store.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { bothDatabases } from '../../support/databases.ts';

bothDatabases('the block up to which traces were read', databases => {
  test('is none for a chain of an older database, and keeps the method until another is known', async () => {
    const db = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(({ name }) => name === 'traces of coins');
    await migrate(db, PAYMENTS_MIGRATIONS.slice(0, step));
    await db.raw('insert into chain_cursors (chain_id, block_number, scanned_at) values (1, 100, 5)');
    await migrate(db, PAYMENTS_MIGRATIONS);
    const store = cursorStore(db);
    const sources = [];
    const upgraded = await store.find(1);

    for (const by of ['trace_block', undefined, null]) {
      await store.keep(1, { traced: { number: 7, hash: '0xa', time: 1_000, by } });
      sources.push(contractCoinsOf(await store.find(1)));
    }
    await store.keep(1, { traced: { number: 8, by: undefined } });

    expect(upgraded?.traced).toBeUndefined();
    expect(sources).toEqual(['traces', 'traces', null]);
    expect((await store.find(1))?.traced).toEqual({ number: 8, hash: undefined, time: undefined, by: null });
    await db.destroy();
  });
});
