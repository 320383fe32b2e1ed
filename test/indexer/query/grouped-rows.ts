import { join } from 'node:path';
import Database from 'better-sqlite3';
import { bytesColumn, bytesOrNullColumn, uintColumn } from '#db/columns.ts';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { type Engine, openEngine } from '#indexer/query/threads/engine.ts';
import { positionKey } from '#indexer/schema/block-position.ts';
import { TRANSACTION_COLUMNS } from '#indexer/schema/columns.ts';
import { INDEX_MIGRATIONS } from '#indexer/schema/migrations/index-migrations.ts';

/** What a test says of a transaction, by public name; the rest is the same in all of them. */
export interface TransactionRow {
  readonly block_timestamp: bigint;
  readonly from_address: string;
  readonly to_address: string | null;
  readonly value: bigint;
  readonly gas: bigint;
  readonly gas_price: bigint;
  readonly max_fee_per_gas: bigint | null;
  readonly gas_used: bigint;
  readonly transaction_type: bigint;
  readonly status: bigint | null;
  readonly data: string;
}

const NAMES = Object.keys(TRANSACTION_COLUMNS);
const optionalUint = (value: bigint | null) => (value === null ? null : uintColumn(value));

/** An index file with these transactions, each in a block of its own from 1 on, opened for queries. */
export async function indexOf(
  folder: string,
  { chainId, rows }: { chainId: number; rows: Iterable<TransactionRow> },
): Promise<{ engine: Engine; file: string }> {
  const file = join(folder, `chain-${chainId}.sqlite`);
  const store = openDatabase({ file });
  await migrate(store, INDEX_MIGRATIONS);
  await store.destroy();

  const db = new Database(file);
  db.prepare('insert into index_state (id, chain_id) values (1, ?)').run(chainId);
  const marks = NAMES.map(() => '?').join(', ');
  const insert = db.prepare(`insert into transactions (${NAMES.join(', ')}) values (${marks})`);
  db.exec('begin');
  let number = 0;
  for (const row of rows) {
    number += 1;
    const values = columnsOf(number, row);
    insert.run(...NAMES.map(name => values[name]));
  }
  db.exec('commit');
  db.close();
  return { engine: openEngine({ file, tick: () => undefined }), file };
}

function columnsOf(number: number, row: TransactionRow): Readonly<Record<string, unknown>> {
  return {
    id: positionKey({ blockNumber: number, index: 0 }),
    hash: bytesColumn(`0x${number.toString(16).padStart(64, '0')}`),
    timestamp: row.block_timestamp * 1000n,
    from_address: bytesColumn(row.from_address),
    to_address: bytesOrNullColumn(row.to_address),
    value: uintColumn(row.value),
    nonce: uintColumn(BigInt(number)),
    gas_limit: uintColumn(row.gas),
    gas_used: row.gas_used,
    gas_price: uintColumn(row.gas_price),
    max_fee_per_gas: optionalUint(row.max_fee_per_gas),
    max_priority_fee_per_gas: null,
    max_fee_per_blob_gas: null,
    blob_gas_used: null,
    blob_gas_price: null,
    blob_hashes: null,
    authorization_list: null,
    type: row.transaction_type,
    status: row.status,
    fee: uintColumn(0n),
    input: bytesColumn(row.data),
    selector: null,
    created_contract: null,
    error: null,
    output: null,
    has_internal_error: 0,
    facts: 0,
    token_transfer_count: 0,
  };
}
