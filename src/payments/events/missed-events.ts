import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { Subscription } from '../model/webhook.ts';
import type { ComputedColumns } from '../tables/computed-columns.ts';
import type { EventRow } from '../tables/event-tables.ts';

/** A place among the events of an owner, in the order in which they occurred. */
export interface EventPlace {
  /** UTC milliseconds. */
  readonly time: number;
  readonly place: number;
  readonly id: string;
}

/** Whose missed events are looked for, and from when to when. */
export interface MissedOptions {
  readonly webhook: Owner & { readonly id: string; readonly events: readonly Subscription[] };
  /** Events follow this place … */
  readonly after: EventPlace;
  /** … and occurred before this time (UTC milliseconds). */
  readonly until: number;
}

/** An event that a webhook did not get. */
export interface MissedEvent {
  readonly id: string;
  /** The delivery that failed for good; null when there is none. */
  readonly deliveryId: string | null;
}

/** The place before all events since a time (UTC milliseconds). */
export function placeBefore(time: number): EventPlace {
  return { time, place: -1, id: '' };
}

/**
 * Looks at the next events of an owner, at most `limit`, and tells which of them a webhook missed: those that it is
 * subscribed to now, and of which nothing was delivered, is under way or is to come. `last` is undefined at the end.
 */
export async function missedEvents(
  handle: Handle,
  { webhook, after, until }: MissedOptions,
  limit: number,
): Promise<{ missed: MissedEvent[]; last: EventPlace | undefined }> {
  const rows = await rowsOf<
    Pick<EventRow, 'id' | 'type' | 'created_at' | 'place'> &
      Pick<ComputedColumns, 'delivery_id' | 'delivery_state'>
  >(
    handle,
    `select e.id, e.type, e.created_at, e.place, d.id as delivery_id, case
       when d.id is null then 'none'
       when d.status = 'failed' and d.next_attempt_at is null and d.sending is null then 'failed'
       else 'kept' end as delivery_state
     from (
       select id, type, created_at, place from events
       where organization_id = ? and mode = ? and (created_at, place, id) > (?, ?, ?) and created_at < ?
       order by created_at, place, id limit ?
     ) e left join deliveries d on d.event_id = e.id and d.webhook_id = ? and not d.is_test
     order by e.created_at, e.place, e.id`,
    [webhook.organizationId, webhook.mode, after.time, after.place, after.id, until, limit, webhook.id],
  );
  const missed = rows.filter(
    ({ type, delivery_state: state }) =>
      state !== 'kept' && webhook.events.some(one => one === '*' || one === type),
  );
  const end = rows.length < limit ? undefined : rows.at(-1);
  return {
    missed: missed.map(row => ({ id: row.id, deliveryId: row.delivery_id })),
    last: end && { time: end.created_at, place: end.place, id: end.id },
  };
}
