import type { Tables } from 'knex/types/tables.js';
import type { Handle } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { announce } from '#db/woken-worker.ts';

/** Topic that is announced when a process begins or ends. */
export const PRESENCE_TOPIC = 'roles';

/** First and last name of the leases that stand for processes: `role:settlement:proc_…`, `role:settlement/1:proc_…`. */
const FIRST = 'role:';
const BEHIND = 'role;';

/** A task of a live process. */
export interface PresentTask {
  readonly task: string;
  readonly processId: string;
}

/** Name of the settlement of one chain among the tasks of a process. */
export function settlementOf(chainId: number): string {
  return `settlement/${chainId}`;
}

/**
 * Processes of the payments database by task: a role, or the settlement of one chain. Each has a row of `leases` per
 * task, which it extends while it lives.
 */
export function presenceStore(handle: Handle) {
  return {
    /** Says that a process has these tasks until `expiresAt`, in UTC milliseconds. */
    async extend(processId: string, tasks: readonly string[], expiresAt: number): Promise<void> {
      await execute(
        handle,
        `insert into leases (name, holder, expires_at) values ${tasks.map(() => '(?, ?, ?)').join(', ')}
         on conflict (name) do update set expires_at = excluded.expires_at`,
        tasks.flatMap(task => [`${FIRST}${task}:${processId}`, processId, expiresAt]),
      );
    },

    /** Tasks of all live processes, one entry per process and task. */
    async live(now: number): Promise<readonly PresentTask[]> {
      const rows = await rowsOf<Pick<Tables['leases'], 'name' | 'holder'>>(
        handle,
        'select name, holder from leases where name >= ? and name < ? and expires_at > ?',
        [FIRST, BEHIND, now],
      );
      return rows.map(({ name, holder }) => ({ task: name.split(':')[1] ?? '', processId: holder }));
    },

    /** Removes what processes left that ended without a word and expired before a time. */
    removeExpired(before: number): Promise<number> {
      return execute(handle, 'delete from leases where name >= ? and name < ? and expires_at < ?', [
        FIRST,
        BEHIND,
        before,
      ]);
    },

    /** Removes a process that ends. */
    async remove(processId: string): Promise<void> {
      const sql = 'delete from leases where name >= ? and name < ? and holder = ?';
      await execute(handle, sql, [FIRST, BEHIND, processId]);
      announce(handle, PRESENCE_TOPIC);
    },

    /** Tells the other processes to look again. */
    announce: () => announce(handle, PRESENCE_TOPIC),
  };
}
