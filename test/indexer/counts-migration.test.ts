import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Columns } from '#db/columns.ts';
import { migrate, openMigrated } from '#db/migrate.ts';
import { type DatabaseOptions, type Handle, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { insertTyped } from '#db/rows.ts';
import { BLOCK_COLUMNS, TOKEN_TRANSFER_COLUMNS, TRANSACTION_COLUMNS } from '#indexer/schema/columns.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { bothDatabases } from '#test/support/databases.ts';
import { countedAgain, keptCounts } from './kept-counts.ts';
import { CHAIN_ID, openTestIndex, startTestChain, type TestChain } from './support.ts';

let chain: TestChain;
let file: string;

beforeAll(async () => {
  chain = await startTestChain();
  file = join(chain.folder, 'fresh.sqlite');
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  const self = chain.accounts.signer(1).address;
  for (const value of [1n, 2n, 3n]) {
    await chain.send(0, dollar.call('mint', [self, value]));
    await chain.send(1, { to: self, value });
    await chain.send(1, dollar.call('transfer', [self, 1n]));
    await chain.mine();
  }
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();
  await index.stop();
});

afterAll(() => chain.stop());

/** An index with the chain's rows, as a version without counts left it. */
async function writeOlderIndex(database: DatabaseOptions): Promise<void> {
  const options = indexOptions(database, CHAIN_ID);
  const { migrations } = indexSchema(CHAIN_ID, options);
  const before = migrations.findIndex(({ name }) => name === '019-address-counts');
  const fresh = openDatabase({ file, readonly: true });
  const db = openDatabase(options);
  try {
    await migrate(db, migrations.slice(0, before), `chain_${CHAIN_ID}`);
    const copy = async (table: string, columns: Columns) =>
      insertTyped(db, { table, columns }, await rowsWith(fresh, table, columns));
    await copy('blocks', BLOCK_COLUMNS);
    await copy('transactions', TRANSACTION_COLUMNS);
    await copy('token_transfers', TOKEN_TRANSFER_COLUMNS);
  } finally {
    await Promise.all([db.destroy(), fresh.destroy()]);
  }
}

function rowsWith(db: Handle, table: string, columns: Columns): Promise<Record<string, never>[]> {
  return rowsOf(db, `select ${Object.keys(columns).join(', ')} from ${table}`);
}

bothDatabases('an index of an earlier version', databases => {
  test('has its counts once it is opened', async () => {
    const database = await databases.create('index');
    await writeOlderIndex(database);

    const options = indexOptions(database, CHAIN_ID);
    const db = await openMigrated(options, indexSchema(CHAIN_ID, options));
    await db.destroy();

    expect(await keptCounts(database)).toEqual(await countedAgain(database));
    expect(await keptCounts(database)).toEqual(await keptCounts({ file }));
  });
});
