import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { readServerTime } from './database-clock.ts';
import { endOfLeases } from './lease.ts';
import { type Migration, table } from './migrate.ts';
import type { Db, Transaction } from './open.ts';
import { execute, rowsOf, type Sql } from './query.ts';
import { limitLockWait, lockedTransaction } from './transaction.ts';
import { announce } from './woken-worker.ts';

/** Table of named leases, for schemas with leader election. */
export const LEADER_MIGRATION: Migration = {
  name: 'leases',
  up: [
    table('leases', {
      name: ['text', 'primary key'],
      holder: ['text', 'not null'],
      expires_at: ['time', 'not null'],
    }),
  ],
};

declare module 'knex/types/tables.js' {
  interface Tables {
    leases: { name: string; holder: string; expires_at: number };
  }
}

interface LeadershipOptions {
  /** Task with one leader, such as `watcher:31337`. */
  name: string;
  /** Duration of the lease in milliseconds, unless renewed. */
  leaseMs: number;
  clock: Clock;
  /**
   * Called when this candidate becomes the leader, including after it lost the lease, but not when it stays the leader.
   */
  onElected?: (() => void) | undefined;
}

/** Candidate for a task that only one process may perform at a time. */
export type Leadership = ReturnType<typeof leadership>;

/** Maximum wait on PostgreSQL for a transaction of the lease holder. */
const LOCK_WAIT_MS = 1_000;

/**
 * Condition that a lease of `leaseMs` is in force. One that is further ahead than its own length was taken by a wrong
 * clock, or before a clock was set back, and has expired; as much as clocks may differ is tolerated.
 */
export function leaseInForce(now: number, leaseMs: number): Sql {
  return {
    sql: '(leases.expires_at > ? and leases.expires_at <= ?)',
    bindings: [now, endOfLeases(now, leaseMs)],
  };
}

/** Creates a candidate. Even within one process, two candidates never hold the same name at once. */
export function leadership(db: Db, { name, leaseMs, clock, onElected }: LeadershipOptions) {
  const holder = newId('leader');
  /** True from an election until `onElected`, which waits for the next hold when the answer to the commit is lost. */
  let isElected = false;

  async function confirm(handle: Transaction): Promise<boolean> {
    // An update, not a select: it locks the row, so a successor's `hold` waits for this transaction.
    const sql = 'update leases set expires_at = ? where name = ? and holder = ?';
    return (await execute(handle, sql, [clock.now() + leaseMs, name, holder])) === 1;
  }

  /** Takes a free or expired lease. */
  async function take(handle: Transaction): Promise<boolean> {
    const now = clock.now();
    const inForce = leaseInForce(now, leaseMs);
    const taken = await rowsOf(
      handle,
      `insert into leases (name, holder, expires_at) values (?, ?, ?)
       on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
       where not ${inForce.sql}
       returning name`,
      [name, holder, now + leaseMs, ...inForce.bindings],
    );
    return taken.length === 1;
  }

  return {
    /**
     * Becomes or stays the leader for `leaseMs` from now. Returns false when another candidate leads or is in a
     * transaction. Call it well before the lease ends.
     */
    async hold(): Promise<boolean> {
      try {
        // A transaction waits for another process without blocking this one.
        const holds = await lockedTransaction(
          db,
          async handle => {
            await limitLockWait(handle, LOCK_WAIT_MS);
            await readServerTime(db, handle);
            // A candidate that lost its lease is elected again, because another one may have led in between.
            if (await confirm(handle)) return true;
            isElected = await take(handle);
            return isElected;
          },
          db.dialect.name === 'postgres' ? 0 : undefined,
        );
        if (holds && isElected) {
          isElected = false;
          onElected?.();
        }
        return holds;
      } catch (error) {
        if (db.dialect.isRetryable(error)) return false;
        throw error;
      }
    },

    /** True when no candidate has the lease. */
    async isFree(): Promise<boolean> {
      const inForce = leaseInForce(clock.now(), leaseMs);
      const sql = `select name from leases where name = ? and ${inForce.sql}`;
      return (await rowsOf(db, sql, [name, ...inForce.bindings])).length === 0;
    },

    /**
     * Extends the lease by `leaseMs` from now. Returns false when this candidate does not hold the lease; it never
     * makes it the leader.
     */
    renew: (): Promise<boolean> =>
      lockedTransaction(db, async handle => {
        await readServerTime(db, handle);
        return confirm(handle);
      }),

    /**
     * Call it inside a transaction that only the leader may commit. True when this candidate still leads and no other
     * can take over before the transaction ends. It checks the lease holder and not the time, so clock differences
     * cannot lead to two leaders.
     */
    confirm,

    /**
     * Like `confirm`, but does not extend the lease. Transactions of the leader that only check do not wait for each
     * other.
     */
    async check(handle: Transaction): Promise<boolean> {
      // A shared lock of the row: a successor's `hold` waits for it. SQLite's transactions run one after the other.
      return (await handle('leases').where({ name, holder }).forShare().select('name')).length === 1;
    },

    /** Releases the lease and announces its name to waiting candidates. */
    async resign(): Promise<void> {
      await lockedTransaction(db, async handle => {
        const released = await execute(handle, 'delete from leases where name = ? and holder = ?', [
          name,
          holder,
        ]);
        if (released > 0) announce(handle, name);
      });
    },
  };
}
