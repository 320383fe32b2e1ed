import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { type Migration, table } from './migrate.ts';
import type { Db, Transaction } from './open.ts';
import { execute, rowsOf } from './query.ts';
import { lockedTransaction } from './transaction.ts';
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
  /** Called when this candidate becomes the leader, not when it stays it. */
  onElected?: (() => void) | undefined;
}

/** One candidate for a task that only one process may do at a time. */
export type Leadership = ReturnType<typeof leadership>;

/** A candidate of its own, also within one process: two never hold the same name at once. */
export function leadership(db: Db, { name, leaseMs, clock, onElected }: LeadershipOptions) {
  const holder = newId('leader');
  let isLeader = false;

  async function confirm(handle: Transaction): Promise<boolean> {
    // An update, not a select: it locks the row, so a successor's `hold` waits for this transaction.
    const sql = 'update leases set expires_at = ? where name = ? and holder = ?';
    return (await execute(handle, sql, [clock.now() + leaseMs, name, holder])) === 1;
  }

  return {
    /** Becomes or stays the leader for `leaseMs` from now; false when another is. To be called well before it ends. */
    async hold(): Promise<boolean> {
      // A transaction, because that waits for another process without stopping this one.
      const held = await lockedTransaction(db, handle => {
        const now = clock.now();
        return rowsOf(
          handle,
          `insert into leases (name, holder, expires_at) values (?, ?, ?)
           on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
           where leases.holder = excluded.holder or leases.expires_at <= ?
           returning name`,
          [name, holder, now + leaseMs, now],
        );
      });
      const wasLeader = isLeader;
      isLeader = held.length === 1;
      if (isLeader && !wasLeader) onElected?.();
      return isLeader;
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
      isLeader = false;
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
