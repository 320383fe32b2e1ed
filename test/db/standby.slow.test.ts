import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Db, openDatabase } from '../../src/db/open.ts';
import { transaction } from '../../src/db/transaction.ts';
import { Unavailable } from '../../src/lib/unavailable.ts';
import { type OwnPostgres, startOwnPostgres } from '../lab/own-postgres.ts';

let primary: OwnPostgres;
let standbyUrl: string;
let standby: Db;

beforeAll(async () => {
  primary = await startOwnPostgres();
  standbyUrl = await primary.addStandby();
  standby = openDatabase({ kind: 'postgres', url: standbyUrl });
});

afterAll(async () => {
  await standby?.destroy();
  await primary?.[Symbol.asyncDispose]();
});

test.for([
  ['a statement', () => standby.raw('create table things (id integer)')],
  ['a transaction', () => transaction(standby, handle => handle.raw('select 1'))],
] as const)('%s that a hot standby refuses fails as an outage', async ([, work]) => {
  const error = await work().catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(Unavailable);
  expect(error).toMatchObject({ what: 'The database cannot be written now' });
});
