import { test as base } from 'vitest';
import { describeEach, postgresDatabase, sqliteDatabase } from './databases.ts';
import { type Merchant, type PaymentsApi, startPaymentsApi } from './payments-api.ts';

/** `test` with a payments API that the tests of a suite share. */
export type PaymentsApiTest = ReturnType<typeof paymentsApiTest>;

/** Runs a suite on a payments API with each database of the run. */
export function eachPaymentsApi(name: string, suite: (test: PaymentsApiTest) => void): void {
  describeEach(name, { sqlite: onSqlite, postgres: onPostgres }, suite);
}

function paymentsApiTest(createDatabase: typeof sqliteDatabase | typeof postgresDatabase) {
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
      .extend('api', { scope: 'file' }, async ({}, { onCleanup }): Promise<PaymentsApi> => {
        const database = await createDatabase('payments');
        const api = await startPaymentsApi(database.options);
        onCleanup(async () => {
          await api[Symbol.asyncDispose]();
          await database.remove();
        });
        return api;
      })
      /** The owner of an admin key in test mode. */
      .extend('merchant', { scope: 'file' }, ({ api }): Promise<Merchant> => api.merchant())
  );
}

// Fixtures of file scope must be defined outside of a suite.
/** `test` with a payments API on SQLite, for behaviour independent of the database. */
export const onSqlite = paymentsApiTest(sqliteDatabase);
const onPostgres = paymentsApiTest(postgresDatabase);
