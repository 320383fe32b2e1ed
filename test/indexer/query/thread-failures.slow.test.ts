import { expect, vi } from 'vitest';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { type GroupsQuery, QueryTooLarge } from '#indexer/query/query.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { blocks, never, newest, poolTest } from './pool-fixture.ts';
import { watchThreads } from './started-threads.ts';

/** Keeps the data of every event in memory. */
const allData: GroupsQuery = {
  kind: 'groups',
  entity: 'events',
  filters: [],
  keys: [],
  folds: [{ kind: 'distinct', of: { kind: 'field', name: 'data' } }],
  limit: 100_000,
};

/** Adds events with different data, 80 bytes each. */
async function writeEvents(database: DatabaseOptions, count: number): Promise<void> {
  const db = openDatabase(database);
  const data =
    database.kind === 'postgres' ? "decode(repeat(md5(random()::text), 5), 'hex')" : 'randomblob(80)';
  const id = 2 ** 40;
  await execute(
    db,
    `insert into logs (id, transaction_id, timestamp, address, topic0, data)
     with recursive n(x) as (select 1 union all select x + 1 from n where x < ${count})
     select ${id} + x, ${id}, 0, ${data}, ${data}, ${data} from n`,
  );
  await db.destroy();
}

/** Makes each start of a thread fail as if memory were exhausted. */
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

bothDatabases('query threads that fail', failuresSuite);

function failuresSuite(databases: TestDatabases): void {
  const test = poolTest(databases);

  test('a thread that died is replaced, and only its query fails', async ({ openPool }) => {
    // An invalid message makes it throw before it reaches the query.
    const dying = watchThreads(worker => worker.postMessage(null));
    const { pool } = openPool({ concurrency: 1 });

    await expect(pool.records(newest, never)).rejects.toThrow('the thread of the query is gone');
    dying[Symbol.dispose]();

    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('a query without a thread that can be started fails, and the next one is answered', async ({
    openPool,
  }) => {
    const { pool } = openPool({ concurrency: 1 });

    const refused = await whileNoThreadStarts(() =>
      pool.records(newest, never).catch((error: unknown) => error),
    );

    expect(refused).toEqual(new RangeError('Array buffer allocation failed'));
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('a grown thread that cannot be replaced at once is replaced for the next query', async ({
    openPool,
  }) => {
    const { pool, threads } = openPool({ concurrency: 1, memoryBytes: 2 ** 20 });
    await threads.warmUp();

    const answered = await whileNoThreadStarts(() => pool.records(newest, never));

    expect(answered).toMatchObject({ total: blocks.length });
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('a query that needs more memory than its thread has is too large, and the next one is answered', async ({
    database,
    openPool,
  }) => {
    const { pool } = openPool({ concurrency: 1, memoryBytes: 50_000_000 });
    await writeEvents(database, 90_000);

    await expect(pool.groups(allData, never)).rejects.toEqual(new QueryTooLarge('memory'));
    await expect(pool.groups({ ...allData, folds: [{ kind: 'count' }] }, never)).resolves.toMatchObject({
      groups: [{}],
    });
  });
}
