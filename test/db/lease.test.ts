import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { dueRows, endLeasesAhead, LEASE_COLUMNS, type LeasableRow } from '../../src/db/lease.ts';
import { migrate, table } from '../../src/db/migrate.ts';
import type { Db } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { bothDatabases } from '../support/databases.ts';
import { givenConnections } from '../support/given-database.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

interface Job extends LeasableRow {
  attempts: number;
  kind: string;
}

const LEASE_MS = 1_000;
const DONE = { sql: 'next_attempt_at = null', bindings: [] };

bothDatabases('due rows', databases => {
  const given = givenConnections(databases, { isShared: true, prepare: createJobs });
  let clock: ManualClock;

  beforeEach(async () => {
    await execute(given.db, 'delete from jobs');
    clock = manualClock();
  });

  const queue = () => dueRows<Job>('jobs', clock);
  const insert = (id: string, dueInMs: number | null, kind = 'plain') =>
    execute(given.db, 'insert into jobs (id, kind, next_attempt_at) values (?, ?, ?)', [
      id,
      kind,
      dueInMs === null ? null : clock.now() + dueInMs,
    ]);
  const take = async (limit = 10, on = given.db) => queue().take(on, { limit, leaseMs: LEASE_MS });
  const ids = ({ rows }: { rows: readonly Job[] }) => rows.map(row => row.id);

  test('are taken when they are due, the longest due first, up to the limit', async () => {
    await insert('later', 1);
    await insert('done', null);
    await insert('b', 0);
    await insert('a', 0);
    await insert('oldest', -50);

    expect(ids(await take(2))).toEqual(['oldest', 'a']);
    expect(ids(await take(2))).toEqual(['b']);
    expect(ids(await take(2))).toEqual([]);

    clock.advance(1);
    expect(ids(await take())).toEqual(['later']);
  });

  test('are taken once by two concurrent workers, in transactions or not', async () => {
    for (let i = 0; i < 20; i += 1) await insert(`job ${i}`, 0);
    const inTransaction = (on: Db) =>
      transaction(on, handle => queue().take(handle, { limit: 5, leaseMs: LEASE_MS }));

    const taken = await Promise.all([
      take(5),
      take(5, given.other),
      inTransaction(given.db),
      inTransaction(given.other),
    ]);

    const all = taken.flatMap(ids);
    expect(new Set(all).size).toBe(all.length);
    expect([...all, ...ids(await take(20))].sort()).toEqual(
      Array.from({ length: 20 }, (_, i) => `job ${i}`).sort(),
    );
  });

  test('are due again when a lease expires, and the first worker can no longer settle them', async () => {
    await insert('a', 0);
    const first = await take();
    clock.advance(LEASE_MS - 1);
    expect(ids(await take())).toEqual([]);
    clock.advance(1);

    const second = await take();

    expect(ids(second)).toEqual(['a']);
    expect(await queue().settle(given.db, { id: 'a', token: first.token, set: DONE })).toBe(false);
    expect(await queue().settle(given.db, { id: 'a', token: second.token, set: DONE })).toBe(true);
    expect(await queue().settle(given.db, { id: 'a', token: second.token, set: DONE })).toBe(false);
  });

  test('whose lease is further ahead than its own length are due, as after a clock was set back', async () => {
    await insert('a', 0);
    const first = await take();
    const ended = () => endLeasesAhead(given.db, { table: 'jobs', now: clock.now(), leaseMs: LEASE_MS });

    clock.advance(-5_000);
    await ended();
    const within = ids(await take());
    clock.advance(-1);
    await ended();
    const second = await take();

    expect([within, ids(second)]).toEqual([[], ['a']]);
    expect(await queue().settle(given.db, { id: 'a', token: first.token, set: DONE })).toBe(false);
    expect(await queue().settle(given.db, { id: 'a', token: second.token, set: DONE })).toBe(true);
  });

  test('can be filtered by a condition and changed in the same statement', async () => {
    await insert('a', 0, 'quick');
    await insert('b', 0, 'slow');

    const { rows, token } = await queue().take(given.db, {
      limit: 5,
      leaseMs: LEASE_MS,
      where: { sql: 'kind = ? or kind = ?', bindings: ['slow', 'never'] },
      set: { sql: 'attempts = attempts + ?', bindings: [1] },
    });

    const at = clock.now();
    expect(rows).toEqual([
      {
        id: 'b',
        kind: 'slow',
        attempts: 1,
        next_attempt_at: at,
        locked_by: token,
        locked_until: at + LEASE_MS,
      },
    ]);
  });

  test('are never held by two workers at once and never lost, whichever worker crashes', async () => {
    const round = fc.record({
      takes: fc.array(fc.record({ limit: fc.integer({ min: 1, max: 6 }), onOther: fc.boolean() }), {
        minLength: 1,
        maxLength: 5,
      }),
      outcomes: fc.array(fc.constantFrom('done', 'again', 'crash'), { minLength: 1, maxLength: 8 }),
      passMs: fc.integer({ min: 0, max: 1_500 }),
    });
    const jobs = fc.array(fc.integer({ min: -100, max: 2_000 }), { minLength: 1, maxLength: 15 });

    await fc.assert(
      fc.asyncProperty(jobs, fc.array(round, { maxLength: 8 }), async (dueTimes, rounds) => {
        await execute(given.db, 'delete from jobs');
        for (const [i, dueInMs] of dueTimes.entries()) await insert(`job ${i}`, dueInMs);
        const heldUntil = new Map<string, number>();
        const done: string[] = [];

        for (const { takes, outcomes, passMs } of rounds) {
          const taken = await Promise.all(
            takes.map(one => take(one.limit, one.onOther ? given.other : given.db)),
          );
          const settling: Promise<unknown>[] = [];
          for (const { rows, token } of taken) {
            for (const { id } of rows) {
              expect(heldUntil.get(id) ?? 0).toBeLessThanOrEqual(clock.now());
              heldUntil.set(id, clock.now() + LEASE_MS);
              const outcome = outcomes[settling.length % outcomes.length];
              if (outcome === 'crash') {
                settling.push(Promise.resolve());
                continue;
              }
              const next = outcome === 'done' ? null : clock.now() + 300;
              const set = { sql: 'next_attempt_at = ?', bindings: [next] };
              settling.push(
                queue()
                  .settle(given.db, { id, token, set })
                  .then(isMine => {
                    expect(isMine).toBe(true);
                    heldUntil.delete(id);
                    if (outcome === 'done') done.push(id);
                  }),
              );
            }
          }
          await Promise.all(settling);
          clock.advance(passMs);
        }

        clock.advance(10_000);
        const left = ids(await take(100));
        expect([...done, ...left].sort()).toEqual(dueTimes.map((_, i) => `job ${i}`).sort());
      }),
      { numRuns: 30 },
    );
  });

  test('are found through their index, however many are done', async () => {
    const plan = databases.kind === 'sqlite' ? 'explain query plan' : 'explain';
    await execute(
      given.db,
      databases.kind === 'sqlite'
        ? `with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
           insert into jobs (id) select 'done ' || i from n`
        : `insert into jobs (id) select 'done ' || i from generate_series(1, 5000) i`,
    );
    await given.db.raw('analyze');

    const lines = await rowsOf(
      given.db,
      `${plan} select id from jobs where next_attempt_at <= 5 and (locked_until is null or locked_until <= 5)
       order by next_attempt_at, id limit 3`,
    );

    expect(JSON.stringify(lines)).toContain('jobs_due');
  });
});

async function createJobs(db: Db): Promise<void> {
  const jobs = table('jobs', {
    id: ['text', 'primary key'],
    kind: ['text', "not null default 'plain'"],
    attempts: ['count', 'not null default 0'],
    ...LEASE_COLUMNS,
  });
  const index = 'create index jobs_due on jobs (next_attempt_at) where next_attempt_at is not null';
  await migrate(db, [{ name: '1-jobs', up: [jobs, index] }]);
}
