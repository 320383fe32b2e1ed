import type { Handle, Transaction } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { webhookPayload } from '../../events/event-data.ts';
import { eventOf, eventRowsOfSession, sealedEventData } from '../../events/event-store.ts';
import type { PaymentEvent } from '../../model/event.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { select } from '../../tables/select.ts';
import { bodyCell } from '../../webhooks/store/delivery-store.ts';
import { eraseNoticesOf, opened } from './erased-copies.ts';
import { withoutPayer } from './erased-data.ts';

/**
 * Erases what the payer of a session wrote from its events, their deliveries, and the notices of single events. Returns the
 * events. Mails to the payer and notices about several events stay.
 */
export async function eraseEvents(
  handle: Transaction,
  seals: Seals,
  session: Parameters<typeof eventRowsOfSession>[1],
): Promise<PaymentEvent[]> {
  const erased: PaymentEvent[] = [];
  for (const row of await eventRowsOfSession(handle, session)) {
    const known = opened(() => eventOf(row, seals));
    if (known === undefined) continue;
    const event = { ...known, data: withoutPayer(known.data) };
    // Every event is written, so that on PostgreSQL a relay of the same event comes before or after it.
    const sql = 'update events set sealed_data = ? where id = ?';
    await execute(handle, sql, [sealedEventData(event, seals), event.id]);
    await eraseDeliveries(handle, seals, event);
    await eraseNoticesOf(handle, seals, event);
    erased.push(event);
  }
  return erased;
}

async function eraseDeliveries(handle: Handle, seals: Seals, event: PaymentEvent): Promise<void> {
  const deliveries = await select({ from: 'deliveries', columns: ['id', 'webhook_id'] }).rows(
    handle,
    'where event_id = ? and not is_test',
    [event.id],
  );
  for (const { id, webhook_id: webhookId } of deliveries) {
    const body = seals.seal(webhookPayload(event, webhookId), bodyCell(id));
    await execute(handle, 'update deliveries set sealed_body = ? where id = ?', [body, id]);
    // A receiver may have answered with what it got.
    await execute(handle, 'update delivery_attempts set sealed_response = null where delivery_id = ?', [id]);
  }
}
