import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';
import { transaction } from '../../src/db/transaction.ts';
import * as columns from '../../src/indexer/schema/columns.ts';
import { claimForChain, readIdentity } from '../../src/indexer/schema/head.ts';
import { INDEX_MIGRATIONS } from '../../src/indexer/schema/migrations/index-migrations.ts';
import { CHAIN_ID, canonicalContent, openTestIndex, startTestChain, type TestChain } from './support.ts';

let chain: TestChain;

beforeEach(async () => {
  chain = await startTestChain();
  const dollar = await chain.deploy('StableToken', ['Dollar', 'USD']);
  await chain.mine();
  for (const value of [1n, 2n, 3n]) {
    await chain.send(0, dollar.call('mint', [chain.accounts.signer(1).address, value]));
    await chain.mine();
  }
});

afterEach(async () => {
  await chain.stop();
});

/** Data and columns of an index before the migration. */
const TABLES = {
  blocks: Object.keys(columns.BLOCK_COLUMNS),
  transactions: Object.keys(columns.TRANSACTION_COLUMNS),
  logs: Object.keys(columns.LOG_COLUMNS),
  token_transfers: Object.keys(columns.TOKEN_TRANSFER_COLUMNS),
  contracts: Object.keys(columns.CONTRACT_COLUMNS),
  tokens: ['address', 'type', 'first_block', 'is_read', 'name', 'symbol', 'decimals', 'total_supply'],
  addresses: ['address', 'balance', 'is_contract'],
  token_balances: ['token', 'holder', 'token_id', 'value'],
};

/** An index of the same chain as `from`, as an earlier version would have left it. */
async function writeOlderIndex(file: string, from: string): Promise<string> {
  const before = INDEX_MIGRATIONS.findIndex(({ name }) => name === 'insights-details');
  const db = openDatabase({ file });
  try {
    await migrate(db, INDEX_MIGRATIONS.slice(0, before));
    await transaction(db, handle => claimForChain(handle, CHAIN_ID));
    await db.raw('attach ? as newer', [from]);
    for (const [table, names] of Object.entries(TABLES)) {
      const list = names.join(', ');
      await db.raw(`insert into ${table} (${list}) select ${list} from newer.${table}`);
    }
    await db.raw('update index_state set epoch = 3, high_water = 4');
    return await readIdentity(db);
  } finally {
    await db.destroy();
  }
}

test('an index of an earlier version is read again, ends like a fresh one, and gets a new identity', async () => {
  const fresh = join(chain.folder, 'fresh.sqlite');
  const older = join(chain.folder, 'older.sqlite');
  const index = await openTestIndex({ file: fresh, client: chain.client });
  await index.runOnce();
  await index.stop();
  const identity = await writeOlderIndex(older, fresh);

  const again = await openTestIndex({ file: older, client: chain.client });
  const { head } = again.status();
  const written = await again.runOnce();
  await again.stop();

  expect(head).toBeNull();
  expect(written).toBe(5);
  expect(again.identity).not.toBe(identity);
  expect(again.epoch()).toBe(0);
  expect(await canonicalContent(older)).toEqual(await canonicalContent(fresh));
});

test('an up-to-date index is not read again', async () => {
  const file = join(chain.folder, 'fresh.sqlite');
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();
  await index.stop();

  const again = await openTestIndex({ file, client: chain.client });
  const written = await again.runOnce();
  await again.stop();

  expect(written).toBe(0);
  expect(again.identity).toBe(index.identity);
});
