import { test as base } from 'vitest';
import { type Db, openDatabase } from '../../src/db/open.ts';
import type { Owner } from '../../src/payments/model/owner.ts';
import { DATABASE_KINDS, describeEach, postgresDatabase, sqliteDatabase } from './databases.ts';
import { insertOwner } from './given-database.ts';

/** `test` with a separate payments database for each test, and two organizations in it. */
export type PaymentsDatabaseTest = ReturnType<typeof paymentsDatabaseTest>;

/** Runs a suite twice: on SQLite and on PostgreSQL. */
export function eachPaymentsDatabase(name: string, suite: (test: PaymentsDatabaseTest) => void): void {
  describeEach(name, { sqlite: onSqlite, postgres: onPostgres }, suite, DATABASE_KINDS);
}

function paymentsDatabaseTest(createDatabase: typeof sqliteDatabase | typeof postgresDatabase) {
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
      .extend('db', async ({}, { onCleanup }): Promise<Db> => {
        const database = await createDatabase('payments');
        const db = openDatabase(database.options);
        onCleanup(async () => {
          await db.destroy();
          await database.remove();
        });
        return db;
      })
      .extend('owner', ({ db }): Promise<Owner> => insertOwner(db))
      .extend('stranger', ({ db }): Promise<Owner> => insertOwner(db))
  );
}

/** `test` on SQLite alone. */
export const onSqlite = paymentsDatabaseTest(sqliteDatabase);
const onPostgres = paymentsDatabaseTest(postgresDatabase);
