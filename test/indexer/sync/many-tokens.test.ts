import { expect, test } from 'vitest';
import { uintColumn } from '../../../src/db/columns.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { rowsOf } from '../../../src/db/query.ts';
import { transaction } from '../../../src/db/transaction.ts';
import type { BlockRows } from '../../../src/indexer/decode/block.ts';
import { positionKey } from '../../../src/indexer/schema/block-position.ts';
import { indexOptions } from '../../../src/indexer/schema/migrations/index-migrations.ts';
import type { NewRow } from '../../../src/indexer/schema/tables.ts';
import {
  insertContent,
  insertTokens,
  markTokenCreations,
  TOKEN_CREATION,
} from '../../../src/indexer/sync/block-writer.ts';
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

/** A transaction of block 7 that created a contract. */
function creationOf(contract: Buffer | null): NewRow<'transactions'> {
  const zero = uintColumn(0n);
  return {
    id: positionKey({ blockNumber: 7, index: 0 }),
    hash: Buffer.alloc(32, 1),
    timestamp: 0,
    from_address: Buffer.alloc(20, 2),
    to_address: null,
    value: zero,
    nonce: zero,
    gas_limit: zero,
    gas_used: 0,
    gas_price: zero,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    max_fee_per_blob_gas: null,
    blob_gas_used: null,
    blob_gas_price: null,
    blob_hashes: null,
    authorization_list: null,
    type: 0,
    status: 1,
    fee: zero,
    input: Buffer.alloc(0),
    selector: null,
    created_contract: contract,
    error: null,
    output: null,
    has_internal_error: 0,
    facts: 0,
    token_transfer_count: 0,
    first_transfer: null,
  };
}

bothDatabases('a block', databases => {
  test('with more new tokens than a statement has parameters is written, and the creation of the last one is marked', async () => {
    const db = openDatabase(indexOptions(await databases.create('index'), CHAIN_ID));
    const tokens = Array.from({ length: MANY }, (_, number) => {
      const address = Buffer.alloc(20);
      address.writeUInt32BE(number);
      return { address, type: 0, first_block: 7 };
    });
    const rest = { logs: [], transfers: [], touched: [], unread: null };
    const rows = { ...NO_ROWS, transactions: [creationOf(tokens.at(-1)?.address ?? null)] };
    const block: BlockRows = { number: 7, hash: `0x${'07'.repeat(32)}`, rows, tokens, ...rest };

    await transaction(db, async handle => {
      await insertContent(handle, 'transactions', [block]);
      await insertTokens(handle, [block]);
      await markTokenCreations(handle, [block]);
    });

    const written = await rowsOf(db, 'select address from tokens', []);
    const marked = await rowsOf(db, 'select id from transactions where facts = ?', [TOKEN_CREATION]);
    await db.destroy();
    expect([written.length, marked.length]).toEqual([MANY, 1]);
  });
});
