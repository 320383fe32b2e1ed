import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { insertRows } from '#db/rows.ts';
import { attemptId } from '../../model/delivery.ts';
import type { DeliveryAttempt } from '../../model/webhook.ts';
import type { SealedCell, Seals } from '../../secrets/sealed.ts';
import type { DeliveryAttemptRow } from '../../tables/event-tables.ts';
import { select } from '../../tables/select.ts';

/** Attempts of a delivery that are listed. Only manual attempts lead to more than four. */
const MAX_LISTED = 100;

/** Ended attempts of deliveries. Answers of receivers are stored encrypted, and end with their delivery. */
export function attemptStore(handle: Handle, seals: Seals) {
  return {
    async insert(attempts: readonly DeliveryAttempt[]): Promise<void> {
      const rows = attempts.map(one => rowOf(one, seals));
      const [first] = rows;
      if (first === undefined) return;
      const into = { table: 'delivery_attempts', columns: Object.keys(first) };
      await insertRows(
        handle,
        into,
        rows.map(row => Object.values(row)),
      );
    },

    /** The last attempts of a delivery, earliest first. @throws SealError when no key decrypts an answer */
    async listOf(deliveryId: string): Promise<DeliveryAttempt[]> {
      const rows = await select({ from: 'delivery_attempts', columns: ['*'] }).rows(
        handle,
        'where delivery_id = ? order by number desc limit ?',
        [deliveryId, MAX_LISTED],
      );
      return rows.reverse().map(row => ({
        deliveryId: row.delivery_id,
        number: row.number,
        endedAt: row.ended_at,
        responseCode: row.response_code,
        responseTimeMs: row.response_time_ms,
        error: row.error,
        responseBody:
          row.sealed_response === null ? null : seals.open(row.sealed_response, responseCell(row.id)),
      }));
    },

    /** Removes the answers of a webhook's receiver, not the attempts. */
    async forgetAnswersOf(webhookId: string): Promise<void> {
      await execute(
        handle,
        `update delivery_attempts set sealed_response = null where sealed_response is not null
         and delivery_id in (select id from deliveries where webhook_id = ?)`,
        [webhookId],
      );
    },
  };
}

function rowOf(attempt: DeliveryAttempt, seals: Seals): DeliveryAttemptRow {
  const { deliveryId, number, endedAt, responseCode, responseTimeMs, error, responseBody } = attempt;
  const id = attemptId(deliveryId, number);
  return {
    id,
    delivery_id: deliveryId,
    number,
    ended_at: endedAt,
    response_code: responseCode,
    response_time_ms: responseTimeMs,
    error,
    sealed_response: responseBody === null ? null : seals.seal(responseBody, responseCell(id)),
  };
}

function responseCell(id: string): SealedCell {
  return { table: 'delivery_attempts', column: 'sealed_response', id };
}
