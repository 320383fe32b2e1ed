import { endLeasesAhead, endOfLeases } from '../db/lease.ts';
import type { Db } from '../db/open.ts';
import type { Clock } from '../lib/clock.ts';
import type { Worker } from '../lib/worker.ts';
import { NOTICE_LEASE_MS } from './notifications/store/notice-store.ts';
import { select } from './tables/select.ts';
import { LEASE_MS } from './webhooks/store/due-deliveries.ts';

/** Topics of work that falls due by the clock, with a query for due rows. */
const DUE = {
  events: 'select 1 from events where next_attempt_at <= ?',
  deliveries: 'select 1 from deliveries where next_attempt_at <= ?',
  notices: 'select 1 from notices where next_attempt_at <= ?',
  replays: 'select 1 from webhook_replays where next_attempt_at <= ?',
  sessions: `select 1 from checkout_sessions where status = 'active' and expires_at <= ?
    union all select 1 from payment_links where ends_sessions`,
  refunds: `select 1 from refunds
    where status in ('requires_action', 'pending') and block_number is null and expires_at <= ?`,
} as const;

const TOPICS = select({ computed: { topic: ['text', 'topic'] } });

/** Longest leases of rows, by table and topic. Rows of the other topics are leased only within a transaction. */
const LEASES = new Map<string, number>([
  ['deliveries', LEASE_MS],
  ['notices', NOTICE_LEASE_MS],
]);

/**
 * Wakes the workers of this process for work that has fallen due, such as a retry, and for work whose notification was
 * lost. Ends leases that are further ahead than their own length (Decision 313). One statement covers all topics of
 * this worker, so an idle process costs the database little. Settlement and delivery have one such worker each.
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
  const due = topics.map(topic => `select '${topic}' as topic where exists (${DUE[topic]})`);
  const leased = [...LEASES].filter(([topic]) => topics.some(one => one === topic));
  const ahead = leased.map(
    ([table]) => `select '${table}' as topic where exists (select 1 from ${table} where locked_until > ?)`,
  );
  const from = `from (${[...due, ...ahead].join(' union all ')}) as found`;
  return {
    name: 'look for due work',
    async runOnce() {
      const now = clock.now();
      const ends = leased.map(([, leaseMs]) => endOfLeases(now, leaseMs));
      const rows = await TOPICS.rows(db, from, [...due.map(() => now), ...ends]);
      const found = new Set(rows.map(({ topic }) => topic));
      for (const [table, leaseMs] of leased) {
        if (found.has(table)) await endLeasesAhead(db, { table, now, leaseMs });
      }
      db.wakeups.wake(found);
      return 0;
    },
  };
}
