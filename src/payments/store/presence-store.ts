import { leaseInForce } from '#db/leader.ts';
import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { announce } from '#db/woken-worker.ts';
import { select } from '../tables/select.ts';

/** Notification topic for the start and end of processes. */
export const PRESENCE_TOPIC = 'roles';

/** Range of lease names that stand for processes: `role:settlement:proc_…`, `role:settlement/1:proc_…`. */
const FIRST = 'role:';
const BEHIND = 'role;';

/** A task of a live process. */
export interface PresentTask {
  readonly task: string;
  readonly processId: string;
}

/** Task name for the settlement of one chain. */
export function settlementOf(chainId: number): string {
  return `settlement/${chainId}`;
}

/**
 * Processes of the payments database by task: a role, or the settlement of one chain. Each live process has a row in
 * `leases` per task and extends it regularly.
 */
export function presenceStore(handle: Handle) {
  return {
    /** Announces the tasks of a process until `expiresAt`, in UTC milliseconds. */
    async extend(processId: string, tasks: readonly string[], expiresAt: number): Promise<void> {
      await execute(
        handle,
        `insert into leases (name, holder, expires_at) values ${tasks.map(() => '(?, ?, ?)').join(', ')}
         on conflict (name) do update set expires_at = excluded.expires_at`,
        tasks.flatMap(task => [`${FIRST}${task}:${processId}`, processId, expiresAt]),
      );
    },

    /** Tasks of all live processes, one entry per process and task. Processes announce themselves for `presentMs`. */
    async live(now: number, presentMs: number): Promise<readonly PresentTask[]> {
      const inForce = leaseInForce(now, presentMs);
      const rows = await select({ from: 'leases', columns: ['name', 'holder'] }).rows(
        handle,
        `where name >= ? and name < ? and ${inForce.sql}`,
        [FIRST, BEHIND, ...inForce.bindings],
      );
      return rows.map(({ name, holder }) => ({ task: name.split(':')[1] ?? '', processId: holder }));
    },

    /** Removes rows of crashed processes that expired before a time. */
    removeExpired(before: number): Promise<number> {
      return execute(handle, 'delete from leases where name >= ? and name < ? and expires_at < ?', [
        FIRST,
        BEHIND,
        before,
      ]);
    },

    /** Removes a process at its end. */
    async remove(processId: string): Promise<void> {
      const sql = 'delete from leases where name >= ? and name < ? and holder = ?';
      await execute(handle, sql, [FIRST, BEHIND, processId]);
      announce(handle, PRESENCE_TOPIC);
    },

    /** Notifies the other processes to read again. */
    announce: () => announce(handle, PRESENCE_TOPIC),
  };
}
