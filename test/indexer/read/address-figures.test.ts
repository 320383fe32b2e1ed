import type { Address } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { bytesColumn } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import { addressFigures } from '#indexer/read/contracts.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { bothDatabases } from '#test/support/databases.ts';
import { CHAIN_ID } from '../support.ts';

bothDatabases('figures of addresses', databases => {
  test('count the transactions of an address that no longer has coins or code', async () => {
    const options = await databases.create('index');
    const db = await openMigrated(indexOptions(options, CHAIN_ID), indexSchema(CHAIN_ID, options));
    onTestFinished(() => db.destroy());
    const destroyed: Address = `0x${'d'.repeat(40)}`;
    const unknown: Address = `0x${'e'.repeat(40)}`;
    await db('transaction_counts').insert({ address: bytesColumn(destroyed), transactions: 3 });

    const figures = await addressFigures(db, [destroyed, unknown]);

    expect([...figures]).toEqual([[destroyed, { balance: 0n, transactionCount: 3 }]]);
  });
});
