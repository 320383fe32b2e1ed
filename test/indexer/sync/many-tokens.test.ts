import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/db/open.ts';
import { rowsOf } from '../../../src/db/query.ts';
import { transaction } from '../../../src/db/transaction.ts';
import type { BlockRows } from '../../../src/indexer/decode/block.ts';
import { indexOptions } from '../../../src/indexer/schema/migrations/index-migrations.ts';
import { insertTokens, markTokenCreations } from '../../../src/indexer/sync/block-writer.ts';
import { bothDatabases } from '../../support/databases.ts';
import { CHAIN_ID } from '../support.ts';

const MANY = 70_000;
const NO_ROWS = {
  blocks: [],
  block_details: [],
  transactions: [],
  transaction_details: [],
  internal_transactions: [],
  withdrawals: [],
  contracts: [],
};

bothDatabases('a block', databases => {
  test('with more new tokens than a statement has parameters is written', async () => {
    const db = openDatabase(indexOptions(await databases.create('index'), CHAIN_ID));
    const tokens = Array.from({ length: MANY }, (_, number) => {
      const address = Buffer.alloc(20);
      address.writeUInt32BE(number);
      return { address, type: 0, first_block: 7 };
    });
    const rest = { logs: [], transfers: [], touched: [], unread: null };
    const block: BlockRows = { number: 7, hash: `0x${'07'.repeat(32)}`, rows: NO_ROWS, tokens, ...rest };

    await transaction(db, async handle => {
      await insertTokens(handle, [block]);
      await markTokenCreations(handle, [block]);
    });

    const rows = await rowsOf(db, 'select address from tokens', []);
    await db.destroy();
    expect(rows).toHaveLength(MANY);
  });
});
