import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openEngine } from '../../../src/indexer/query/engine.ts';
import { openQueryPool, type QueryPoolOptions } from '../../../src/indexer/query/pool.ts';
import {
  type Entity,
  type GroupsQuery,
  QueriesBusy,
  type QueryEngine,
  QueryTooLarge,
  type RowsQuery,
} from '../../../src/indexer/query/query.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { CHAIN_ID, temporaryFolder } from '../support.ts';
import { randomBlocks, writeIndex } from './random-blocks.ts';

const never = new AbortController().signal;
const blocks = randomBlocks({ seed: 3, count: 30 });

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let file: string;
let pool: QueryEngine;

beforeEach(async () => {
  folder = await temporaryFolder();
  file = join(folder.folder, 'index.sqlite');
});

afterEach(async () => {
  await pool.close();
  await folder.remove();
});

async function openPool(options: Partial<QueryPoolOptions> = {}): Promise<void> {
  await writeIndex(file, { chainId: CHAIN_ID, blocks });
  pool = openQueryPool({ file, clock: systemClock, ...options });
}

const page = (entity: Entity = 'blocks'): RowsQuery => ({
  kind: 'rows',
  entity,
  filters: [],
  sort: { field: 'block_number', order: 'desc' },
  limit: 5,
  offset: 0,
  countUpTo: 100,
});
const groups: GroupsQuery = {
  kind: 'groups',
  entity: 'blocks',
  filters: [],
  keys: [],
  folds: [{ kind: 'count' }],
  limit: 10,
};

test('a query past its deadline is too large, and the next one is answered', async () => {
  const clock = manualClock();
  await openPool({ clock, deadlineMs: 10_000 });

  const late = pool.rows(page(), never);
  clock.advance(10_000);

  await expect(late).rejects.toEqual(new QueryTooLarge('deadline'));
  await expect(pool.rows(page(), never)).resolves.toMatchObject({ total: blocks.length });
});

test('a query that waits has its deadline from when it starts', async () => {
  const clock = manualClock();
  await openPool({ clock, deadlineMs: 10_000 });

  const first = pool.rows(page(), never);
  clock.advance(6_000);
  const second = pool.rows(page(), never);
  clock.advance(4_000);

  await expect(first).rejects.toBeInstanceOf(QueryTooLarge);
  await expect(second).resolves.toMatchObject({ total: blocks.length });
});

test('a query that found no thread for five seconds is told that others have them', async () => {
  const clock = manualClock();
  await openPool({ clock });

  const first = pool.rows(page(), never);
  const waiting = pool.rows(page(), never);
  clock.advance(4_999);
  const later = pool.rows(page(), never);
  clock.advance(1);

  await expect(waiting).rejects.toBeInstanceOf(QueriesBusy);
  await expect(Promise.all([first, later])).resolves.toMatchObject([{ total: blocks.length }, {}]);
});

test('while four threads that were left behind have not ended, long queries are refused and pages are not', async () => {
  const clock = manualClock();
  await openPool({ clock, deadlineMs: 10_000 });
  const leaveBehind = async () => {
    const late = pool.groups(groups, never).catch((error: unknown) => error);
    clock.advance(10_000);
    const outcome = await late;
    clock.advance(2_000);
    // Turns in which no thread can report anything, and the query's place becomes free.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    return outcome;
  };

  for (let count = 0; count < 4; count += 1)
    expect(await leaveBehind()).toEqual(new QueryTooLarge('deadline'));
  await expect(pool.groups(groups, never)).rejects.toBeInstanceOf(QueriesBusy);
  await expect(pool.rows(page(), never)).resolves.toMatchObject({ total: blocks.length });
  await vi.waitFor(() => expect(pool.groups(groups, never)).resolves.toMatchObject({ groups: [{}] }), 5_000);
});

test('a query that nobody wants any more ends with the reason, whether it runs, waits or was never begun', async () => {
  await openPool();
  const aborts = new AbortController();
  const reason = new Error('gone');

  const begun = Promise.allSettled([pool.rows(page(), aborts.signal), pool.rows(page(), aborts.signal)]);
  aborts.abort(reason);

  expect(await begun).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await expect(pool.rows(page(), aborts.signal)).rejects.toBe(reason);
  await expect(pool.rows(page(), never)).resolves.toMatchObject({ total: blocks.length });
});

test('what the clock or the caller ends, the engine stops within a few thousand rows', async () => {
  await openPool();
  const ended = new Error('time is up');
  const engine = openEngine({
    file,
    tick() {
      throw ended;
    },
  });

  for (const entity of ['blocks', 'transactions', 'events'] as const)
    for (const order of ['asc', 'desc'] as const) {
      const everything = { ...page(entity), sort: { field: 'data', order }, limit: 1000 };
      const sorted = entity === 'blocks' ? { ...everything, sort: { field: 'size', order } } : everything;
      expect(() => engine.run(sorted)).toThrow(ended);
    }
  expect(() => engine.run(groups)).toThrow(ended);
  engine.close();
});

test('a page does not wait for aggregates, however many run', async () => {
  await openPool({ longThreads: 0 });

  const refused = expect(pool.groups(groups, never)).rejects.toThrow('closed');

  await expect(pool.rows(page(), never)).resolves.toMatchObject({ total: blocks.length });
  await Promise.all([pool.close(), refused]);
});

test('a thread that died is replaced, and only its query fails', async () => {
  pool = openQueryPool({ file, clock: systemClock });
  await expect(pool.rows(page(), never)).rejects.toThrow('the thread of the query is gone');

  await writeIndex(file, { chainId: CHAIN_ID, blocks });

  await expect(pool.rows(page(), never)).resolves.toMatchObject({ total: blocks.length });
});

test('a query that fails leaves its thread to the next', async () => {
  await openPool();
  const wrong = { ...page(), sort: { field: 'no such field', order: 'asc' } } as const;
  const other = { ...wrong, filters: [{ field: 'block_number', operator: 'eq', value: 1n }] } as const;

  await expect(pool.rows(wrong, never)).rejects.toThrow('blocks have no field no such field.');
  await expect(pool.rows(other, never)).rejects.toThrow('blocks have no field no such field.');
  await expect(pool.rows(page(), never)).resolves.toMatchObject({ total: blocks.length });
});

test('groups are answered in a thread', async () => {
  await openPool();

  await expect(pool.groups(groups, never)).resolves.toEqual({
    groups: [{ keys: [], folds: [BigInt(blocks.length)] }],
  });
});

test('a closed engine answers no query', async () => {
  await openPool();
  await pool.rows(page(), never);
  await pool.close();

  await expect(pool.rows(page(), never)).rejects.toThrow('closed');
});
