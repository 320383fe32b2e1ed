import { writeSync } from 'node:fs';
import { type Migration, migrate } from '../../src/db/migrate.ts';
import { openDatabase } from '../../src/db/open.ts';

const MINUTE_MS = 60_000;

/** Reports that it has begun, and then takes a minute. */
const stay: Migration['up'][number] = ({ name }) => {
  writeSync(1, 'begun\n');
  if (name === 'postgres') return `select pg_sleep(${MINUTE_MS / 1000})`;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MINUTE_MS);
  return 'select 1';
};

/** Migrates the database in the first argument, with one more step after the first. */
async function run(argument: string): Promise<void> {
  const db = openDatabase(JSON.parse(argument));
  await migrate(db, [
    { name: '1-things', up: [] },
    { name: '2-held', up: ['create table held (id text)', stay] },
  ]);
  await db.destroy();
}

await run(process.argv[2] ?? '');
