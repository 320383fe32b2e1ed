import { test as base } from 'vitest';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import type { GroupsQuery, QueryEngine, RowsQuery } from '#indexer/query/query.ts';
import { openQueryPool, type QueryPool, type QueryPoolOptions } from '#indexer/query/threads/pool.ts';
import type { TestDatabases } from '#test/support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { CHAIN_ID } from '../support.ts';
import { randomBlocks, writeIndex } from './random-blocks.ts';

/** Blocks of the index that the pools of these tests read. */
export const blocks = randomBlocks({ seed: 3, count: 30 }).map(({ block, ...others }) => ({
  ...others,
  // A record shows its size.
  block: { ...block, size: block.size ?? ('0x1' as const) },
}));

export const never = new AbortController().signal;

/** The newest five blocks. */
export const newest: RowsQuery = {
  kind: 'rows',
  entity: 'blocks',
  filters: [],
  sort: { field: 'block_number', order: 'desc' },
  limit: 5,
  offset: 0,
  countUpTo: 100,
};

/** The number of blocks. */
export const groups: GroupsQuery = {
  kind: 'groups',
  entity: 'blocks',
  filters: [],
  keys: [],
  folds: [{ kind: 'count' }],
  limit: 10,
};

/** The number of events. In an index of `writeEndlessEvents` it never ends by itself. */
export const endless: GroupsQuery = { ...groups, entity: 'events' };

/** Writes an index whose events take minutes to read, without filling a disk if they are not aborted. */
export async function writeEndlessEvents(database: DatabaseOptions): Promise<DatabaseOptions> {
  const written = await writeIndex(database, { chainId: CHAIN_ID, blocks });
  const db = openDatabase(written);
  await db.raw('alter table logs rename to quick_logs');
  await db.raw(
    `create view logs as with recursive n(x) as (select 1 union all select x + 1 from n where x < 1e7)
     select l.* from n cross join quick_logs l`,
  );
  await db.destroy();
  return written;
}

/** Lets queries that need no answer of a thread come to their next wait. No thread can report meanwhile. */
export async function microtasks(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** A pool of query threads, and its engine for the index. */
export interface OpenedPool {
  readonly threads: QueryPool;
  readonly pool: QueryEngine;
}

/** `test` with an index shared by a suite, and pools that are closed after each test. Their clock stands still. */
export function poolTest(databases: TestDatabases) {
  let written: Promise<DatabaseOptions> | undefined;
  const write = async () => writeIndex(await databases.create(), { chainId: CHAIN_ID, blocks });
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
      .extend('database', async ({}): Promise<DatabaseOptions> => {
        written ??= write();
        return written;
      })
      .extend('openPool', ({ database }, { onCleanup }) => {
        const opened: QueryPool[] = [];
        onCleanup(async () => void (await Promise.all(opened.map(threads => threads.close()))));
        return (options: Partial<QueryPoolOptions> = {}): OpenedPool => {
          const threads = openQueryPool({ clock: manualClock(), ...options });
          opened.push(threads);
          return { threads, pool: threads.engine(database) };
        };
      })
  );
}
