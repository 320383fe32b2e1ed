import { placeholders } from '#db/insert.ts';
import type { Handle } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { HOLD_LIMIT_MS, isFinal, resumed } from '../model/delivery.ts';
import { type DeliveryRow, deliveryAt } from './delivery-rows.ts';

/** Rows that are looked at, and written, at once. */
const BATCH = 1_000;

/** Fails what was held for a webhook, and is too old now that it is active again. Decision 124. */
export async function failHeldTooLong(handle: Handle, webhookId: string, now: number): Promise<void> {
  for (;;) {
    const rows = await rowsOf<DeliveryRow>(
      handle,
      `select * from deliveries
       where webhook_id = ? and next_attempt_at is not null and created_at < ?
         and (locked_until is null or locked_until <= ?) limit ?`,
      [webhookId, now - HOLD_LIMIT_MS, now, BATCH],
    );
    const failed = rows.filter(row => isFinal(resumed(deliveryAt(row, now), now)));
    if (failed.length === 0) return;
    await execute(
      handle,
      `update deliveries set status = 'failed', next_attempt_at = null, sending = null, locked_until = null,
         locked_by = null
       where id in (${placeholders(failed.length)})`,
      failed.map(row => row.id),
    );
  }
}
