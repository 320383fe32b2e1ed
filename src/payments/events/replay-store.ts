import { RELEASE_LEASE_VALUES } from '../../db/lease.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { announce } from '../../db/woken-worker.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import type { ReplayRow } from '../tables/event-tables.ts';
import type { EventPosition } from './missed-events.ts';

/** A replay of missed events to a webhook. Times are UTC milliseconds. */
export interface Replay extends Owner {
  readonly webhookId: string;
  /** The last event that was read. */
  readonly after: EventPosition;
  /** End of the replayed period, exclusive. */
  readonly until: number;
  /** Most events that are still to be sent. */
  readonly remaining: number;
}

/** Running replays, at most one per webhook. */
export function replayStore(handle: Handle) {
  return {
    /** Call it in the transaction that found no running replay. */
    async insert(
      { organizationId, mode, webhookId, until, ...progress }: Replay,
      now: number,
    ): Promise<void> {
      await handle('webhook_replays').insert({
        id: newId('rpl'),
        organization_id: organizationId,
        mode,
        webhook_id: webhookId,
        until,
        ...progressValues(progress),
        next_attempt_at: now,
      });
      announce(handle, 'replays');
    },

    async isUnderWay(webhookId: string): Promise<boolean> {
      const sql = 'select id from webhook_replays where webhook_id = ?';
      return (await rowsOf(handle, sql, [webhookId])).length > 0;
    },
  };
}

/** Stores the progress of a replay and releases it until `at` (UTC milliseconds). */
export async function saveProgress(
  handle: Transaction,
  id: string,
  { after, remaining, at }: Pick<Replay, 'after' | 'remaining'> & { readonly at: number },
): Promise<void> {
  const lease = { next_attempt_at: at, ...RELEASE_LEASE_VALUES };
  await handle('webhook_replays')
    .where({ id })
    .update({ ...progressValues({ after, remaining }), ...lease });
}

/** Removes a finished replay. */
export async function end(handle: Transaction, id: string): Promise<void> {
  await handle('webhook_replays').where({ id }).delete();
}

/** Converts a row to a replay. */
export function replayOf(row: ReplayRow): Replay {
  return {
    organizationId: row.organization_id,
    mode: row.mode,
    webhookId: row.webhook_id,
    after: { time: row.after_time, order: row.after_place, id: row.after_id },
    until: row.until,
    remaining: row.remaining,
  };
}

function progressValues({ after, remaining }: Pick<Replay, 'after' | 'remaining'>) {
  return { after_time: after.time, after_place: after.order, after_id: after.id, remaining };
}
