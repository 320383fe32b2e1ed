import { hash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import type { ColumnValue } from '#db/columns.ts';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { claimForChain } from '#indexer/schema/head.ts';
import { INDEX_MIGRATIONS } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { bulkBlock, TRANSACTIONS_PER_BLOCK } from './bulk-rows.ts';

export const CHAIN_ID = 31_337;

/** A read-only index of generated rows. */
export interface BulkIndex {
  readonly file: string;
  readonly transactions: number;
  readonly blocks: number;
}

const FILLED = ['blocks', 'block_details', 'transactions', 'transaction_details', 'logs'] as const;

/**
 * Creates an index with `transactions` transactions and twice as many events, with the database indexes of a real one.
 * The file stays in the system's temporary folder for later runs. Its name changes with the schema and with this code.
 */
export async function bulkIndex(transactions: number): Promise<BulkIndex> {
  const file = join(tmpdir(), `tollgate-bench-${transactions}-${version()}.db`);
  const index = { file, transactions, blocks: transactions / TRANSACTIONS_PER_BLOCK };
  if (existsSync(file)) return index;
  const part = `${file}.${process.pid}`;
  try {
    console.error(`writing ${file} …`);
    await create(part);
    fill(part, index);
    renameSync(part, file);
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(part + suffix, { force: true });
  }
  return index;
}

function version(): string {
  const sources = ['./bulk-index.ts', './bulk-rows.ts'].map(name =>
    readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8'),
  );
  return hash('sha256', JSON.stringify([INDEX_MIGRATIONS, sources])).slice(0, 12);
}

async function create(file: string): Promise<void> {
  const db = openDatabase({ file });
  try {
    await migrate(db, INDEX_MIGRATIONS);
    await transaction(db, handle => claimForChain(handle, CHAIN_ID));
  } finally {
    await db.destroy();
  }
}

/**
 * Fills the tables. Creates database indexes and triggers afterwards: the insights API does not use the triggers'
 * counters.
 */
function fill(file: string, { transactions, blocks }: BulkIndex): void {
  const db = new Database(file);
  try {
    for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -524288'])
      db.pragma(pragma);
    const later = laterOf(db);
    for (const { type, name } of later) db.exec(`drop ${type} ${name}`);
    const inserts = Object.fromEntries(
      FILLED.map(table => {
        const names = Object.keys(TABLES[table].columns);
        return [
          table,
          db.prepare(`insert into ${table} (${names.join(',')}) values (${names.map(() => '?').join(',')})`),
        ];
      }),
    );
    db.exec('begin');
    for (let number = 0; number < blocks; number++) {
      const rows: Record<(typeof FILLED)[number], ColumnValue[][]> = bulkBlock(number, transactions);
      for (const [table, ofTable] of Object.entries(rows))
        for (const row of ofTable) inserts[table]?.run(...row);
    }
    db.exec('insert into event_kinds (address, topic0) select distinct address, topic0 from logs');
    db.exec(`update logs set kind = (
      select id from event_kinds k where k.address = logs.address and k.topic0 = logs.topic0)`);
    db.exec('commit');
    for (const { sql } of later) db.exec(sql);
    db.pragma('journal_mode = wal');
  } finally {
    db.close();
  }
}

function laterOf(db: Database): { type: string; name: string; sql: string }[] {
  const rows = db
    .prepare(
      `select type, name, sql from sqlite_master
       where type in ('index', 'trigger') and sql is not null order by type`,
    )
    .raw()
    .all();
  return rows.map(row => {
    const [type, name, sql] = Array.isArray(row) ? row.map(String) : [];
    return { type: type ?? '', name: name ?? '', sql: sql ?? '' };
  });
}
