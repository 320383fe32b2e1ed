import { expect } from 'vitest';
import { type GroupsQuery, QueriesBusy, type QueryEngine } from '#indexer/query/query.ts';
import { waitingClients } from '#lib/request-counters.ts';
import type { Filter } from '#query-model/row-selection.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { endless, groups, microtasks, never, poolTest, writeEndlessEvents } from './pool-fixture.ts';

bothDatabases('cheap queries', cheapSuite);

/** The largest block of a range, plus a number of bytes. */
function largest(first: bigint, last: bigint, plus = 1n): GroupsQuery {
  const range: Filter[] = [
    { field: 'block_number', operator: 'gte', value: first },
    { field: 'block_number', operator: 'lt', value: last },
  ];
  const left = { kind: 'field', name: 'size' } as const;
  const right = { kind: 'literal', value: plus } as const;
  const of = { kind: 'arithmetic', operator: '+', left, right } as const;
  return { ...groups, filters: range, folds: [{ kind: 'max', of }] };
}

const known = largest(0n, 10n);
const answered = { groups: [{}] };

/** A pool with one thread for long queries. */
interface SmallPool {
  readonly pool: QueryEngine;
  readonly clock: ManualClock;
  /** Occupies that thread. */
  occupy(): void;
}

function cheapSuite(databases: TestDatabases): void {
  const test = poolTest(databases).extend(
    'small',
    async ({ openPool }, { onCleanup }): Promise<SmallPool> => {
      const clock = manualClock();
      const { threads } = openPool({ clock, concurrency: 1, deadlineMs: 600_000 });
      const pool = threads.engine(await writeEndlessEvents(await databases.create()));
      const aborts = new AbortController();
      onCleanup(() => aborts.abort(new Error('the test is over')));
      const occupy = () => void pool.groups(endless, aborts.signal).catch(() => undefined);
      return { pool, clock, occupy };
    },
  );

  /** Expects that a query waits for the thread of long queries. */
  async function expectLong({ pool, clock }: SmallPool, query: GroupsQuery): Promise<void> {
    const refused = pool.groups(query, never).catch((error: unknown) => error);
    await microtasks();
    clock.advance(1_000);

    expect(await refused).toBeInstanceOf(QueriesBusy);
  }

  test('a query is answered during a long one when the last one with other values was cheap', async ({
    small,
  }) => {
    const { pool, occupy } = small;
    await pool.groups(known, never);
    occupy();

    await expect(pool.groups(largest(7n, 16n, 12n), never)).resolves.toMatchObject(answered);
  });

  test.for<[string, GroupsQuery]>([
    ['another aggregate', { ...known, folds: [{ kind: 'count' }] }],
    ['a key', { ...known, keys: [{ kind: 'field', name: 'miner' }] }],
    ['a much longer range', largest(0n, 1_000n)],
    [
      'another filter',
      { ...known, filters: [...known.filters, { field: 'size', operator: 'gt', value: 0n }] },
    ],
  ])('a query like a cheap one, but with %s, waits with the long ones', async ([, other], { small }) => {
    await small.pool.groups(known, never);
    small.occupy();

    await expectLong(small, other);
  });

  test('a query that only seems to be cheap is ended and run again as a long one', async ({ small }) => {
    const { pool, clock, occupy } = small;
    const charged: number[] = [];
    const client = { key: 'client', charge: (ms: number) => void charged.push(ms) };
    await pool.groups(known, never);

    const slow = pool.groups(known, never, waitingClients(client));
    await microtasks();
    clock.advance(250);

    await expect(slow).resolves.toMatchObject(answered);
    await expect.poll(() => charged).toContain(250);
    occupy();
    await expectLong(small, known);
  });

  test('a shape is cheap again after some cheap queries', async ({ small }) => {
    const { pool, clock, occupy } = small;
    const slow = pool.groups(known, never);
    clock.advance(1_000);
    await slow;

    for (let round = 0; round < 4; round += 1) await pool.groups(known, never);
    occupy();

    await expect(pool.groups(known, never)).resolves.toMatchObject(answered);
  });
}
