import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type GroupsQuery, type QueryEngine, QueryTooLarge, type RowsQuery } from '#indexer/query/query.ts';
import { openQueryPool, type QueryPool, type QueryPoolOptions } from '#indexer/query/threads/pool.ts';
import { systemClock } from '#lib/clock.ts';
import { CHAIN_ID, temporaryFolder } from '../support.ts';
import { randomBlocks, writeIndex } from './random-blocks.ts';
import { watchThreads } from './started-threads.ts';

const never = new AbortController().signal;
const blocks = randomBlocks({ seed: 3, count: 30 });
const page: RowsQuery = {
  kind: 'rows',
  entity: 'blocks',
  filters: [],
  sort: { field: 'block_number', order: 'desc' },
  limit: 5,
  offset: 0,
  countUpTo: 100,
};
/** Keeps the data of every event in memory. */
const allData: GroupsQuery = {
  kind: 'groups',
  entity: 'events',
  filters: [],
  keys: [],
  folds: [{ kind: 'distinct', of: { kind: 'field', name: 'data' } }],
  limit: 100_000,
};

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
let threads: QueryPool;
let pool: QueryEngine;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.folder, 'index.sqlite');
});

afterEach(async () => {
  await threads.close();
  await folder.remove();
});

/** A pool with one thread for each kind of query. */
async function openPool(options: Partial<QueryPoolOptions> = {}): Promise<void> {
  await writeIndex(file, { chainId: CHAIN_ID, blocks });
  threads = openQueryPool({ clock: systemClock, concurrency: 1, ...options });
  pool = threads.engine(file);
}

/** Adds events with different data, 80 bytes each. */
function writeEvents(count: number): void {
  const db = new Database(file);
  db.exec(
    `insert into logs (id, transaction_id, timestamp, address, topic0, data)
     with recursive n(x) as (select 1 union all select x + 1 from n where x < ${count})
     select (1 << 40) + x, 1 << 40, 0, randomblob(20), randomblob(32), randomblob(80) from n`,
  );
  db.close();
}

test('a thread that died is replaced, and only its query fails', async () => {
  // It throws at a message that is none, before it comes to the query.
  const dying = watchThreads(worker => worker.postMessage(null));
  await openPool();

  await expect(pool.rows(page, never)).rejects.toThrow('the thread of the query is gone');
  dying[Symbol.dispose]();

  await expect(pool.rows(page, never)).resolves.toMatchObject({ total: blocks.length });
});

test('a query for which no thread can be started fails, and the next one is answered', async () => {
  await openPool();

  const refused = await whileNoThreadStarts(() => pool.rows(page, never).catch((error: unknown) => error));

  expect(refused).toEqual(new RangeError('Array buffer allocation failed'));
  await expect(pool.rows(page, never)).resolves.toMatchObject({ total: blocks.length });
});

test('a thread that has grown and cannot be replaced at once is replaced for the next query', async () => {
  await openPool({ memoryBytes: 2 ** 20 });
  await threads.warmUp();

  const answered = await whileNoThreadStarts(() => pool.rows(page, never));

  expect(answered).toMatchObject({ total: blocks.length });
  await expect(pool.rows(page, never)).resolves.toMatchObject({ total: blocks.length });
});

/** Lets each start of a thread fail as it does without memory. */
async function whileNoThreadStarts<Result>(act: () => Promise<Result>): Promise<Result> {
  vi.stubGlobal(
    'SharedArrayBuffer',
    class {
      constructor() {
        throw new RangeError('Array buffer allocation failed');
      }
    },
  );
  try {
    return await act();
  } finally {
    vi.unstubAllGlobals();
  }
}

test('a query that needs more memory than its thread has is too large, and the next one is answered', async () => {
  await openPool({ memoryBytes: 50_000_000 });
  writeEvents(90_000);

  await expect(pool.groups(allData, never)).rejects.toEqual(new QueryTooLarge('memory'));
  await expect(pool.groups({ ...allData, folds: [{ kind: 'count' }] }, never)).resolves.toMatchObject({
    groups: [{}],
  });
});
