import type { Db } from '../db/open.ts';
import { rowsOf } from '../db/query.ts';
import type { Clock } from '../lib/clock.ts';
import type { Worker } from '../lib/worker.ts';
import type { ComputedColumns } from './tables/computed-columns.ts';

/** Topics of work that falls due by the clock, with a query for due rows. */
const DUE = {
  events: 'select 1 from events where next_attempt_at <= ?',
  deliveries: 'select 1 from deliveries where next_attempt_at <= ?',
  notices: 'select 1 from notices where next_attempt_at <= ?',
  replays: 'select 1 from webhook_replays where next_attempt_at <= ?',
  sessions: "select 1 from checkout_sessions where status = 'active' and expires_at <= ?",
} as const satisfies Record<ComputedColumns['topic'], string>;

/**
 * Wakes the workers of this process for work that has fallen due, such as a retry, and for work whose notification was
 * lost. One statement covers all topics with workers in this process, so an idle process costs the database little.
 */
export function dueWorkWorker({
  db,
  clock,
  topics,
}: {
  db: Db;
  clock: Clock;
  topics: readonly (keyof typeof DUE)[];
}): Worker {
  const looks = topics.map(topic => `select '${topic}' as topic where exists (${DUE[topic]})`);
  const sql = looks.join(' union all ');
  return {
    name: 'look for due work',
    async runOnce() {
      const now = clock.now();
      const rows = await rowsOf<Pick<ComputedColumns, 'topic'>>(
        db,
        sql,
        looks.map(() => now),
      );
      db.wakeups.wake(rows.map(({ topic }) => topic));
      return 0;
    },
  };
}
