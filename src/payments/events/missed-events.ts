import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';
import type { Subscription } from '../model/webhook.ts';
import type { StatementColumns } from '../tables/computed-columns.ts';
import type { EventRow } from '../tables/event-tables.ts';

/** A position among the events of an owner, in the order of occurrence. */
export interface EventPosition {
  /** UTC milliseconds. */
  readonly time: number;
  readonly order: number;
  readonly id: string;
}

/** The webhook and the period of a search for missed events. */
export interface MissedOptions {
  readonly webhook: Owner & { readonly id: string; readonly events: readonly Subscription[] };
  /** Start of the period, exclusive. */
  readonly after: EventPosition;
  /** End of the period in UTC milliseconds, exclusive. */
  readonly until: number;
}

/** An event that a webhook has missed. */
export interface MissedEvent {
  readonly id: string;
  /** The delivery that failed permanently; null when there is none. */
  readonly deliveryId: string | null;
}

/** The position before all events since a time (UTC milliseconds). */
export function positionBefore(time: number): EventPosition {
  return { time, order: -1, id: '' };
}

/**
 * Reads the next `limit` events of an owner and returns those that a webhook has missed. It is subscribed to them now,
 * and they have no delivery or one that failed permanently. `last` is the position to continue from; undefined at the
 * end.
 */
export async function missedEvents(
  handle: Handle,
  { webhook, after, until }: MissedOptions,
  limit: number,
): Promise<{ missed: MissedEvent[]; last: EventPosition | undefined }> {
  const rows = await rowsOf<
    Pick<EventRow, 'id' | 'type' | 'created_at' | 'place'> &
      Pick<StatementColumns, 'delivery_id' | 'delivery_state'>
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
    [webhook.organizationId, webhook.mode, after.time, after.order, after.id, until, limit, webhook.id],
  );
  const missed = rows.filter(
    ({ type, delivery_state: state }) =>
      state !== 'kept' && webhook.events.some(one => one === '*' || one === type),
  );
  const end = rows.length < limit ? undefined : rows.at(-1);
  return {
    missed: missed.map(row => ({ id: row.id, deliveryId: row.delivery_id })),
    last: end && { time: end.created_at, order: end.place, id: end.id },
  };
}
