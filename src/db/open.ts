import createKnex, { type Knex } from 'knex';

/** A database, or one open transaction of it: whatever a store can be made from. */
export type Handle = Knex | Knex.Transaction;
export type Db = Knex;

export interface DatabaseOptions {
  /** Path of the SQLite file; it is created unless `readonly`. */
  file: string;
  readonly?: boolean;
  /** `normal` may lose the last commits in a power cut (an index can be read again), never consistency. */
  durability?: 'normal' | 'full';
}

/**
 * A SQLite database behind knex: WAL, so readers on other connections never wait for the writer.
 * It has one connection: inside a transaction every query must go through the transaction's own handle.
 */
export function openDatabase({ file, readonly = false, durability = 'normal' }: DatabaseOptions): Db {
  return createKnex({
    client: 'better-sqlite3',
    connection: { filename: file, options: { readonly } },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max: 1,
      afterCreate: (connection: unknown, done: (error: Error | null, connection: unknown) => void) => {
        try {
          for (const pragma of pragmas(readonly, durability)) run(connection, pragma);
          done(null, connection);
        } catch (error) {
          done(error instanceof Error ? error : new Error(String(error)), connection);
        }
      },
    },
  });
}

/** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
export function transaction<T>(db: Db, work: (handle: Knex.Transaction) => Promise<T>): Promise<T> {
  return db.transaction(work);
}

function pragmas(readonly: boolean, durability: 'normal' | 'full'): string[] {
  // A read-only connection may not change the journal mode, and needs no say in how commits are flushed.
  const writing = ['pragma journal_mode = wal', `pragma synchronous = ${durability}`];
  const both = [
    'pragma busy_timeout = 5000',
    'pragma foreign_keys = on',
    'pragma temp_store = memory',
    'pragma cache_size = -65536',
  ];
  return readonly ? both : [...writing, ...both];
}

function run(connection: unknown, sql: string): void {
  if (typeof connection !== 'object' || connection === null || !('exec' in connection)) {
    throw new Error('The SQLite driver gave something that is not a connection.');
  }
  if (typeof connection.exec !== 'function') throw new Error('The SQLite driver cannot execute a statement.');
  connection.exec(sql);
}
