import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, vi } from 'vitest';
import { QueriesBusy, QueryTooLarge } from '#indexer/query/query.ts';
import { waitingClients } from '#lib/request-counters.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  blocks,
  endless,
  groups,
  microtasks,
  never,
  newest,
  poolTest,
  writeEndlessEvents,
} from './pool-fixture.ts';
import { countThreads, watchThreads } from './started-threads.ts';

bothDatabases('query threads', poolSuite);

function poolSuite(databases: TestDatabases): void {
  const test = poolTest(databases);

  test('a query past its deadline is too large, and the next one is answered', async ({ openPool }) => {
    const clock = manualClock();
    const { pool } = openPool({ clock, deadlineMs: 10_000 });

    const late = pool.records(newest, never);
    clock.advance(10_000);

    await expect(late).rejects.toEqual(new QueryTooLarge('deadline'));
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('the deadline of a waiting query begins when it starts', async ({ openPool }) => {
    const clock = manualClock();
    const { pool } = openPool({ clock, deadlineMs: 10_000 });

    const first = pool.records(newest, never);
    clock.advance(6_000);
    const second = pool.records(newest, never);
    clock.advance(4_000);

    await expect(first).rejects.toBeInstanceOf(QueryTooLarge);
    await expect(second).resolves.toMatchObject({ total: blocks.length });
  });

  test('a query that waits a second for a thread fails as busy', async ({ openPool }) => {
    const clock = manualClock();
    const { pool } = openPool({ clock, concurrency: 1 });

    const first = pool.records(newest, never);
    const waiting = pool.records(newest, never);
    clock.advance(999);
    const later = pool.records(newest, never);
    clock.advance(1);

    await expect(waiting).rejects.toBeInstanceOf(QueriesBusy);
    await expect(Promise.all([first, later])).resolves.toMatchObject([{ total: blocks.length }, {}]);
  });

  test('further chains of a request that has begun wait five seconds for a thread', async ({ openPool }) => {
    const clock = manualClock();
    const { pool } = openPool({ clock, concurrency: 1 });
    const request = waitingClients(undefined);

    const first = pool.records(newest, never, request);
    const second = pool.records(newest, never, request);
    await microtasks();
    clock.advance(1_000);
    await Promise.resolve();
    const third = pool.records(newest, never, request);

    await expect(Promise.all([first, second, third])).resolves.toMatchObject([{}, {}, {}]);
  });

  test('queries beyond the queue’s limit are refused at once', async ({ openPool }) => {
    const { pool } = openPool({ concurrency: 1 });

    const asked = Array.from({ length: 202 }, () => pool.groups(groups, never));
    const outcomes = await Promise.allSettled(asked);

    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(outcomes.at(-1)).toEqual({ status: 'rejected', reason: new QueriesBusy() });
    expect(refused.length).toBeLessThan(202);
  });

  test('the threads of long queries have a lower priority than those of pages and than the process', async ({
    openPool,
  }) => {
    // Services of other files of the process have such threads as well.
    await openPool().threads.warmUp();
    const before = nicenessOfThreads();
    using counted = countThreads();
    const { threads } = openPool({ concurrency: 2 });

    await threads.warmUp();

    const lower = [...nicenessOfThreads()].filter(
      ([id, niceness]) => !before.has(id) && niceness > getPriority(),
    );
    expect({ started: counted.threads.started, lower: lower.length }).toEqual({ started: 2, lower: 1 });
  });

  test('a thread that has grown is replaced after its query, and others stay', async ({ openPool }) => {
    const threadsOf = async (memoryBytes: number) => {
      using counted = countThreads();
      const { threads, pool } = openPool({ clock: manualClock(), concurrency: 1, memoryBytes });
      for (let round = 0; round < 3; round += 1) await pool.records(newest, never);
      await threads.close();
      return { ...counted.threads };
    };
    const growing = await threadsOf(2 ** 20);
    const small = await threadsOf(2 ** 29);

    expect({ growing, small }).toEqual({
      growing: { started: 4, ended: 4 },
      small: { started: 1, ended: 1 },
    });
  });

  test('while four abandoned threads have not ended, long queries are refused and pages are not', async ({
    openPool,
  }) => {
    const clock = manualClock();
    const { pool } = openPool({ clock, deadlineMs: 10_000 });
    const leaveBehind = async () => {
      const late = pool.groups(groups, never).catch((error: unknown) => error);
      clock.advance(10_000);
      await microtasks();
      clock.advance(2_000);
      const outcome = await late;
      // Afterwards the query's slot is free.
      await microtasks();
      return outcome;
    };

    for (let count = 0; count < 4; count += 1)
      expect(await leaveBehind()).toEqual(new QueryTooLarge('deadline'));
    await expect(pool.groups(groups, never)).rejects.toBeInstanceOf(QueriesBusy);
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
    await vi.waitFor(
      () => expect(pool.groups(groups, never)).resolves.toMatchObject({ groups: [{}] }),
      10_000,
    );
  });

  test('a pool closes after its abandoned threads', async ({ openPool }) => {
    using counted = countThreads();
    const clock = manualClock();
    const { pool, threads } = openPool({ clock, concurrency: 1, deadlineMs: 10_000 });

    const late = pool.groups(groups, never).catch((error: unknown) => error);
    clock.advance(10_000);
    await late;
    clock.advance(2_000);
    await microtasks();
    await threads.close();

    expect(counted.threads).toEqual({ started: 1, ended: 1 });
  });

  test('an aborted query fails with the reason, whether it runs, waits or has not started', async ({
    openPool,
  }) => {
    const { pool } = openPool();
    const aborts = new AbortController();
    const reason = new Error('gone');

    const begun = Promise.allSettled([
      pool.records(newest, aborts.signal),
      pool.records(newest, aborts.signal),
    ]);
    aborts.abort(reason);

    expect(await begun).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    await expect(pool.records(newest, aborts.signal)).rejects.toBe(reason);
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('a page does not wait for aggregates, however many run', async ({ openPool }) => {
    const { threads } = openPool({ clock: manualClock(), concurrency: 1 });
    const pool = threads.engine(await writeEndlessEvents(await databases.create()));
    const aborts = new AbortController();

    const aggregates = Array.from({ length: 190 }, () => pool.groups(endless, aborts.signal));
    const ended = Promise.race(aggregates).catch((error: unknown) => error);
    const page = await pool.records(newest, never);
    const reason = new Error('the page was answered first');
    aborts.abort(reason);

    expect(page).toMatchObject({ total: blocks.length });
    expect(await ended).toBe(reason);
    await Promise.allSettled(aggregates);
  });

  test('threads end by themselves, because terminating one inside SQLite aborts the process', async ({
    openPool,
  }) => {
    const codes: Promise<unknown[]>[] = [];
    using _ = watchThreads(worker => codes.push(once(worker, 'exit')));
    const { pool, threads } = openPool({ concurrency: 1 });

    const startsStill = pool.records(newest, never).catch(() => undefined);
    await threads.close();
    const next = openPool({ concurrency: 1 });
    await next.threads.warmUp();
    const runs = next.pool.groups(groups, never).catch(() => undefined);
    await next.threads.close();

    await Promise.all([startsStill, runs]);
    expect(await Promise.all(codes)).toEqual([[0], [0], [0]]);
  });

  test('a failed query leaves its thread to the next one', async ({ openPool }) => {
    const { pool } = openPool();
    const wrong = { ...newest, sort: { field: 'no such field', order: 'asc' } } as const;
    const other = { ...wrong, filters: [{ field: 'block_number', operator: 'eq', value: 1n }] } as const;

    await expect(pool.records(wrong, never)).rejects.toThrow('blocks have no field no such field.');
    await expect(pool.records(other, never)).rejects.toThrow('blocks have no field no such field.');
    await expect(pool.records(newest, never)).resolves.toMatchObject({ total: blocks.length });
  });

  test('groups are computed in a thread', async ({ openPool }) => {
    const { pool } = openPool();

    await expect(pool.groups(groups, never)).resolves.toEqual({
      groups: [{ keys: [], folds: [BigInt(blocks.length)] }],
    });
  });

  test('a closed engine answers no query', async ({ openPool }) => {
    const { pool, threads } = openPool();
    await pool.records(newest, never);
    await threads.close();

    await expect(pool.records(newest, never)).rejects.toThrow('closed');
  });
}

/** Niceness of each thread of this process, by the id of the thread. Source: proc_pid_stat(5), field 19. */
function nicenessOfThreads(): Map<string, number> {
  const stats = readdirSync('/proc/self/task').map(
    id => [id, readFileSync(`/proc/self/task/${id}/stat`, 'utf8')] as const,
  );
  return new Map(
    stats.map(([id, stat]) => [id, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])]),
  );
}
