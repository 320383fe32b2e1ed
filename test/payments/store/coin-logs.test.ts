import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { bothDatabases } from '../../support/databases.ts';

bothDatabases('the block from which on coins are read from logs', databases => {
  test('is none for a chain of an older database, and is set once', async () => {
    const db = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(({ name }) => name === 'logs of coins');
    await migrate(db, PAYMENTS_MIGRATIONS.slice(0, step));
    await db.raw('insert into chain_cursors (chain_id, block_number, scanned_at) values (1, 100, 5)');

    await migrate(db, PAYMENTS_MIGRATIONS);
    const store = cursorStore(db);
    const upgraded = await store.find(1);
    await store.setCoinLogs(1, { from: 230, blockNumber: 100 });
    await store.setCoinLogs(1, { from: 400, blockNumber: 300 });
    await store.set(1, { blockNumber: 101, scannedAt: 6, headTime: undefined });

    expect(upgraded).toMatchObject({ blockNumber: 100, scannedAt: 5 });
    expect(upgraded?.coinLogsFrom).toBeUndefined();
    expect(await store.find(1)).toMatchObject({ blockNumber: 101, scannedAt: 6, coinLogsFrom: 230 });
    await db.destroy();
  });

  test('is stored before the first scan of a chain, and forgotten with the progress on another chain', async () => {
    const db = openDatabase(await databases.create('payments'));
    const store = cursorStore(db);
    const isNew = (hash: string) => transaction(db, handle => cursorStore(handle).isNewChain(1, hash));
    await isNew('0xa');
    await store.setCoinLogs(1, { from: 1, blockNumber: 0 });
    const begun = await store.find(1);

    const isAnother = await isNew('0xb');

    expect(begun).toMatchObject({ blockNumber: 0, scannedAt: 0, coinLogsFrom: 1 });
    expect(isAnother).toBe(true);
    expect(await store.find(1)).toBeUndefined();
    await db.destroy();
  });
});
