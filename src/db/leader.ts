import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { type Migration, table } from './migrate.ts';
import type { Db, Transaction } from './open.ts';
import { execute, rowsOf } from './query.ts';
import { limitLockWait, lockedTransaction } from './transaction.ts';
import { announce } from './woken-worker.ts';

/** The table of named leases; part of a schema that has leaders. */
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
  /** What there is one leader of: `watcher:31337`. */
  name: string;
  /** How long it lasts unless it is held again, in milliseconds. */
  leaseMs: number;
  clock: Clock;
  /** Called when this candidate becomes the leader, also again after it lost the lease; not when it stays it. */
  onElected?: (() => void) | undefined;
}

/** One candidate for a task that only one process may do at a time. */
export type Leadership = ReturnType<typeof leadership>;

/** How long a candidate waits on PostgreSQL for the transaction of whoever holds the lease. */
const LOCK_WAIT_MS = 1_000;

/** A candidate of its own, also within one process: two never hold the same name at once. */
export function leadership(db: Db, { name, leaseMs, clock, onElected }: LeadershipOptions) {
  const holder = newId('leader');

  async function confirm(handle: Transaction): Promise<boolean> {
    // An update, not a select: it locks the row, so a successor's `hold` waits for this transaction.
    const sql = 'update leases set expires_at = ? where name = ? and holder = ?';
    return (await execute(handle, sql, [clock.now() + leaseMs, name, holder])) === 1;
  }

  /** Takes a lease that nobody holds. */
  async function take(handle: Transaction): Promise<boolean> {
    const now = clock.now();
    const taken = await rowsOf(
      handle,
      `insert into leases (name, holder, expires_at) values (?, ?, ?)
       on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
       where leases.expires_at <= ?
       returning name`,
      [name, holder, now + leaseMs, now],
    );
    return taken.length === 1;
  }

  return {
    /**
     * Becomes or stays the leader for `leaseMs` from now; false when another is, also while that one is in a transaction.
     * To be called well before the lease ends.
     */
    async hold(): Promise<boolean> {
      try {
        // A transaction, because that waits for another process without stopping this one.
        const outcome = await lockedTransaction(
          db,
          async handle => {
            await limitLockWait(handle, LOCK_WAIT_MS);
            // Whoever no longer has the lease it once had is elected anew: another one may have led in between.
            if (await confirm(handle)) return 'confirmed';
            return (await take(handle)) ? 'elected' : 'refused';
          },
          db.dialect.name === 'postgres' ? 0 : undefined,
        );
        if (outcome === 'elected') onElected?.();
        return outcome !== 'refused';
      } catch (error) {
        if (db.dialect.isRetryable(error)) return false;
        throw error;
      }
    },

    /** True when no candidate has the lease. */
    async isFree(): Promise<boolean> {
      const sql = 'select name from leases where name = ? and expires_at > ?';
      return (await rowsOf(db, sql, [name, clock.now()])).length === 0;
    },

    /** Extends the lease by `leaseMs` from now. False when another candidate has it, or none: it never makes a leader. */
    renew: (): Promise<boolean> => lockedTransaction(db, confirm),

    /**
     * Inside the transaction whose effects only the leader may have: true when this candidate still is, and nobody can
     * become it before the transaction ends. It asks who holds the lease and not what time it is, so clocks that
     * disagree cannot make two.
     */
    confirm,

    /** Lets another lead at once, and announces the lease's name to those who wait for it. */
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
