import { join } from 'node:path';
import { test as base } from 'vitest';
import type { QueryEngine, RowsQuery } from '#indexer/query/query.ts';
import { openQueryPool, type QueryPool, type QueryPoolOptions } from '#indexer/query/threads/pool.ts';
import { systemClock } from '#lib/clock.ts';
import { CHAIN_ID, temporaryFolder } from '../support.ts';
import { randomBlocks, writeIndex } from './random-blocks.ts';

/** The blocks of the index that the pools of these tests read. */
export const blocks = randomBlocks({ seed: 3, count: 30 });

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

/** A pool of query threads, and its engine for the index. */
export interface OpenedPool {
  readonly threads: QueryPool;
  readonly pool: QueryEngine;
}

/** `test` with a file for an index in a folder of its own, and pools that are closed after the test. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('file', async ({}, { onCleanup }): Promise<string> => {
    const { folder, remove } = await temporaryFolder();
    onCleanup(remove);
    return join(folder, 'index.sqlite');
  })
  /** Opens a pool on whatever the file holds. */
  .extend('start', ({ file }, { onCleanup }) => {
    const opened: QueryPool[] = [];
    onCleanup(async () => void (await Promise.all(opened.map(threads => threads.close()))));
    return (options: Partial<QueryPoolOptions> = {}): OpenedPool => {
      const threads = openQueryPool({ clock: systemClock, ...options });
      opened.push(threads);
      return { threads, pool: threads.engine({ file }) };
    };
  })
  /** Writes the index, and opens a pool on it. */
  .extend('openPool', ({ file, start }) => {
    return async (options: Partial<QueryPoolOptions> = {}): Promise<OpenedPool> => {
      await writeIndex({ file }, { chainId: CHAIN_ID, blocks });
      return start(options);
    };
  });
