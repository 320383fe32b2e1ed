import type { Columns, RowOf } from '#db/columns.ts';
import { openMigrated } from '#db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { insertTyped } from '#db/rows.ts';
import { lockedTransaction } from '#db/transaction.ts';
import { blockStart } from '#indexer/schema/block-position.ts';
import { claimForChain } from '#indexer/schema/head.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { type BulkIndex, CHAIN_ID } from './bulk-index.ts';

/** Blocks per copy statement. */
const STEP = 500;

interface IndexColumns {
  readonly indexname: string;
  readonly indexdef: string;
}

/** Copies an index to PostgreSQL. Triggers do not run, and database indexes are created after all rows. */
export async function postgresIndex(index: BulkIndex, place: DatabaseOptions): Promise<DatabaseOptions> {
  const database = indexOptions(place, CHAIN_ID);
  const to = await openMigrated(database, indexSchema(CHAIN_ID, database));
  const from = openDatabase({ file: index.file, readonly: true });
  try {
    await lockedTransaction(to, handle => claimForChain(handle, CHAIN_ID));
    const indexes = await rowsOf<IndexColumns>(
      to,
      `select indexname, indexdef from pg_indexes
       where schemaname = current_schema() and indexdef not like 'CREATE UNIQUE%'`,
    );
    for (const { indexname } of indexes) await to.raw(`drop index ${indexname}`);
    for (const table of ['blocks', 'transactions', 'logs'])
      await to.raw(`alter table ${table} disable trigger user`);
    await copy({ from, to, blocks: index.blocks });
    for (const { indexdef } of indexes)
      await to.withoutIdleTimeout(async () => void (await to.raw(indexdef)));
    await to.raw('vacuum analyze');
  } finally {
    await Promise.all([from.destroy(), to.destroy()]);
  }
  return database;
}

async function copy({ from, to, blocks }: { from: Db; to: Db; blocks: number }): Promise<void> {
  await copied(
    { from, to },
    { table: 'event_kinds', columns: TABLES.event_kinds.columns, key: 'id', range: [0, 2 ** 31] },
  );
  for (let number = 0; number < blocks; number += STEP) {
    const keys = [number, number + STEP] as const;
    const places = [blockStart(number), blockStart(number + STEP)] as const;
    const part = { from, to };
    await copied(part, { table: 'blocks', columns: TABLES.blocks.columns, key: 'number', range: keys });
    await copied(part, {
      table: 'block_details',
      columns: TABLES.block_details.columns,
      key: 'number',
      range: keys,
    });
    await copied(part, {
      table: 'transactions',
      columns: TABLES.transactions.columns,
      key: 'id',
      range: places,
    });
    await copied(part, {
      table: 'transaction_details',
      columns: TABLES.transaction_details.columns,
      key: 'id',
      range: places,
    });
    await copied(part, { table: 'logs', columns: TABLES.logs.columns, key: 'id', range: places });
  }
}

async function copied<Table extends Columns>(
  { from, to }: { from: Db; to: Db },
  part: { table: string; columns: Table; key: string; range: readonly [number, number] },
): Promise<void> {
  const { table, columns, key, range } = part;
  const names = Object.keys(columns).join(', ');
  const rows = await rowsOf<RowOf<Table>>(
    from,
    `select ${names} from ${table} where ${key} >= ? and ${key} < ?`,
    range,
  );
  await insertTyped(to, { table, columns }, rows);
}
