import { jsonColumn, jsonOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { rowLock } from '#db/query.ts';
import type { RowIn } from '#db/select/select.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { PaymentEvent } from '../../model/event.ts';
import type { Subscription } from '../../model/webhook.ts';
import { ownersOf } from '../../store/list-query.ts';
import { select } from '../../tables/select.ts';

/** Retention of ended subscriptions, in milliseconds: longer than an event ever waits for its relay. */
const MEMORY_MS = 7 * DAY_MS;

/** Subscriptions of webhooks over time. An event goes to the webhooks that were subscribed at its time. */
export function subscriptions(handle: Handle) {
  return {
    /** Replaces the current subscription from `now` on. `null` is for a webhook that is not active. */
    async replace(webhookId: string, events: readonly Subscription[] | null, now: number): Promise<void> {
      const before = handle('webhook_subscriptions').where({ webhook_id: webhookId });
      await before.clone().whereNull('until').update({ until: now });
      await before
        .clone()
        .where('until', '<', now - MEMORY_MS)
        .delete();
      if (events === null) return;
      const values = { webhook_id: webhookId, events: jsonColumn(events), since: now, until: null };
      await handle('webhook_subscriptions').insert(values);
    },

    /** Webhooks of each event's owner that were active and subscribed to it when it occurred, by event id. */
    async ofEvents(events: readonly PaymentEvent[]): Promise<Map<string, string[]>> {
      const rows = await rowsAt(handle, events);
      return new Map(
        events.map(event => [
          event.id,
          rows.filter(row => isSubscribed(row, event)).map(row => row.webhook_id),
        ]),
      );
    },
  };
}

const OWNED = select({
  from: 'webhooks w',
  join: ['webhook_subscriptions s on s.webhook_id = w.id'],
  columns: ['s.webhook_id', 'w.organization_id', 'w.mode', 's.events', 's.since', 's.until'],
});
type OwnedSubscription = RowIn<typeof OWNED>;

async function rowsAt(handle: Handle, events: readonly PaymentEvent[]): Promise<OwnedSubscription[]> {
  if (events.length === 0) return [];
  const times = events.map(event => event.createdAt);
  const owners = ownersOf(events);
  // Locked, so that no webhook is deleted before its deliveries are written.
  return OWNED.rows(
    handle,
    `where (w.organization_id, w.mode) in ${owners.sql} and w.deleted_at is null and s.since <= ? and (s.until is null or s.until > ?)
     order by w.created_at, w.id${rowLock(handle, 'for key share of w')}`,
    [...owners.bindings, Math.max(...times), Math.min(...times)],
  );
}

function isSubscribed(row: OwnedSubscription, event: PaymentEvent): boolean {
  const isOwners = row.organization_id === event.organizationId && row.mode === event.mode;
  const isThen = row.since <= event.createdAt && (row.until === null || row.until > event.createdAt);
  if (!isOwners || !isThen) return false;
  const types = jsonOf<Subscription[]>(row.events);
  return types.some(type => type === '*' || type === event.type);
}
