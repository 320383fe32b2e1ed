import { type Binding, bytesColumn, bytesOrNullColumn } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import type { DatabaseOptions, Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { lockedTransaction } from '#db/transaction.ts';
import type { SerialEngine } from '#indexer/query/engine.ts';
import { positionKey } from '#indexer/schema/block-position.ts';
import { claimForChain } from '#indexer/schema/head.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { testEngine } from './opened-engine.ts';

/** Values of a transaction by public name; all others are the same in every row. */
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

/** An index with these transactions, each in its own block from 1 on. */
export interface RowsIndex {
  /** Options that open the index. */
  readonly database: DatabaseOptions;
  readonly engine: SerialEngine;
  /** Replaces all transactions by these. */
  replace(rows: Iterable<TransactionRow>): Promise<void>;
  close(): Promise<void>;
}

/** Creates the index of a chain; on PostgreSQL one database holds the indexes of several. */
export async function indexOf(
  place: DatabaseOptions,
  { chainId, rows }: { chainId: number; rows: Iterable<TransactionRow> },
): Promise<RowsIndex> {
  const database = indexOptions(place, chainId);
  const db = await openMigrated(database, indexSchema(chainId, database));
  await lockedTransaction(db, handle => claimForChain(handle, chainId));
  const replace = (others: Iterable<TransactionRow>) =>
    lockedTransaction(db, async handle => {
      await execute(handle, 'delete from transactions');
      let number = 0;
      for (const row of others) {
        number += 1;
        await insert(handle, columnsOf(handle, { number, row }));
      }
    });
  await replace(rows);
  const engine = await testEngine(database);
  return {
    database,
    engine,
    replace,
    close: async () => void (await Promise.all([engine.close(), db.destroy()])),
  };
}

async function insert(handle: Handle, values: Readonly<Record<string, Binding>>): Promise<void> {
  const names = Object.keys(values);
  const marks = names.map(() => '?').join(', ');
  await execute(
    handle,
    `insert into transactions (${names.join(', ')}) values (${marks})`,
    Object.values(values),
  );
}

/** Integers as text, because some exceed a number. */
function columnsOf(
  { dialect: { numeric } }: Handle,
  { number, row }: { number: number; row: TransactionRow },
): Readonly<Record<string, Binding>> {
  return {
    id: positionKey({ blockNumber: number, index: 0 }),
    hash: bytesColumn(`0x${number.toString(16).padStart(64, '0')}`),
    timestamp: String(row.block_timestamp * 1000n),
    from_address: bytesColumn(row.from_address),
    to_address: bytesOrNullColumn(row.to_address),
    value: numeric(row.value),
    nonce: numeric(BigInt(number)),
    gas_limit: numeric(row.gas),
    gas_used: String(row.gas_used),
    gas_price: numeric(row.gas_price),
    max_fee_per_gas: row.max_fee_per_gas === null ? null : numeric(row.max_fee_per_gas),
    type: String(row.transaction_type),
    status: row.status === null ? null : String(row.status),
    fee: numeric(0n),
    input: bytesColumn(row.data),
    has_internal_error: 0,
    facts: 0,
    token_transfer_count: 0,
  };
}
