import { LET_GO_VALUES } from '../../db/lease.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { announce } from '../../db/woken-worker.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import type { ReplayRow } from '../tables/event-tables.ts';
import type { EventPlace } from './missed-events.ts';

/** Events that are to be sent to a webhook again. Times are UTC milliseconds. */
export interface Replay extends Owner {
  readonly webhookId: string;
  /** The last event that was looked at. */
  readonly after: EventPlace;
  /** Events of this time or later are none of it. */
  readonly until: number;
  /** How many events are to be sent yet, at most. */
  readonly remaining: number;
}

/** The replays that are under way, at most one of each webhook. */
export function replayStore(handle: Handle) {
  return {
    /** In the transaction that found none under way. */
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

/** Writes how far a replay is, and lets go of it until a time (UTC milliseconds). */
export async function goOn(
  handle: Transaction,
  id: string,
  { after, remaining, at }: Pick<Replay, 'after' | 'remaining'> & { readonly at: number },
): Promise<void> {
  const lease = { next_attempt_at: at, ...LET_GO_VALUES };
  await handle('webhook_replays')
    .where({ id })
    .update({ ...progressValues({ after, remaining }), ...lease });
}

/** Removes a replay that has nothing left to do. */
export async function end(handle: Transaction, id: string): Promise<void> {
  await handle('webhook_replays').where({ id }).delete();
}

/** The replay in a row. */
export function replayOf(row: ReplayRow): Replay {
  return {
    organizationId: row.organization_id,
    mode: row.mode,
    webhookId: row.webhook_id,
    after: { time: row.after_time, place: row.after_place, id: row.after_id },
    until: row.until,
    remaining: row.remaining,
  };
}

function progressValues({ after, remaining }: Pick<Replay, 'after' | 'remaining'>) {
  return { after_time: after.time, after_place: after.place, after_id: after.id, remaining };
}
