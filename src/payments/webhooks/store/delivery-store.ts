import { RELEASE_LEASE } from '#db/lease.ts';
import type { Handle } from '#db/open.ts';
import { execute, type Sql } from '#db/query.ts';
import { insertRows, placeholders } from '#db/rows.ts';
import { announce } from '#db/woken-worker.ts';
import { DAY_MS } from '#lib/clock.ts';
import { attemptCutOff, type DeliveryStatus, HOLD_LIMIT_MS, isFinal, resumed } from '../../model/delivery.ts';
import type { Owner } from '../../model/owner.ts';
import type { Delivery, DeliveryEventType } from '../../model/webhook.ts';
import type { SealedCell, Seals } from '../../secrets/sealed.ts';
import {
  allOf,
  type ListPage,
  type ListPageRequest,
  optionalCondition,
  paged,
} from '../../store/list-query.ts';
import type { DeliveryRow } from '../../tables/event-tables.ts';
import { recordForm } from '../../tables/record-form.ts';
import { select } from '../../tables/select.ts';

/** Retention of deliveries, in milliseconds (Decision 123). */
export const DELIVERY_LIFETIME_MS = 30 * DAY_MS;

/** A delivery, and the body of all its attempts. */
export interface NewDelivery {
  readonly delivery: Delivery;
  readonly body: string;
}

/** Filters of a list of deliveries. `from` (inclusive) and `to` (exclusive) are creation times in UTC milliseconds. */
export interface DeliveryFilters {
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: DeliveryEventType | undefined;
  readonly eventId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Deliveries. Their bodies are stored encrypted. */
export function deliveryStore(handle: Handle, seals: Seals) {
  return {
    /** Drops a second delivery of the same event and webhook, unless it is a test. */
    async insert(deliveries: readonly NewDelivery[]): Promise<void> {
      const rows = deliveries.toSorted(byId).map(({ delivery, body }) => ({
        ...deliveryForm.rowOf(delivery),
        sealed_body: seals.seal(body, bodyCell(delivery.id)),
      }));
      const [first] = rows;
      if (first === undefined) return;
      const into = { table: 'deliveries', columns: Object.keys(first), suffix: 'on conflict do nothing' };
      await insertRows(
        handle,
        into,
        rows.map(row => Object.values(row)),
      );
      announce(handle, 'deliveries');
    },

    async find(owner: Owner, webhookId: string, id: string): Promise<Delivery | undefined> {
      const row = await rowOf(handle, { owner, webhookId, id });
      return row && deliveryOf(row);
    },

    /** The same with the body of its attempts. @throws SealError when no key decrypts it */
    async findWithBody(
      owner: Owner,
      webhookId: string,
      id: string,
    ): Promise<(Delivery & { readonly body: string }) | undefined> {
      const row = await rowOf(handle, { owner, webhookId, id });
      return row && { ...deliveryOf(row), body: seals.open(row.sealed_body, bodyCell(id)) };
    },

    /** Newest first. */
    list(
      owner: Owner,
      webhookId: string,
      { status, eventType, eventId, from, to }: DeliveryFilters,
      page: ListPageRequest,
    ): Promise<ListPage<Delivery>> {
      const where = allOf([
        ofWebhook(owner, webhookId),
        optionalCondition('status = ?', status),
        optionalCondition('event_type = ?', eventType),
        optionalCondition('event_id = ?', eventId),
        optionalCondition('created_at >= ?', from),
        optionalCondition('created_at < ?', to),
      ]);
      const listing = { table: 'deliveries', where, order: 'created_at desc, id desc' } as const;
      return paged(handle, listing, page, deliveryOf);
    },

    /**
     * Removes up to `limit` deliveries from before a time (UTC ms) without an attempt in flight. Returns their number.
     * A lease from before that time is of a crashed process, whose attempt no other repeats while the webhook is not
     * active.
     */
    removeOld({ before, limit }: { before: number; limit: number }): Promise<number> {
      return execute(
        handle,
        `delete from deliveries where id in (
           select id from deliveries where created_at < ? and (sending is null or locked_until < ?)
           order by created_at limit ?
         )`,
        [before, before, limit],
      );
    },

    /** Removes up to `limit` deliveries of a webhook, in any state. Returns their number. */
    removeOf(webhookId: string, limit: number): Promise<number> {
      return execute(
        handle,
        'delete from deliveries where id in (select id from deliveries where webhook_id = ? limit ?)',
        [webhookId, limit],
      );
    },
  };
}

/** Order of insertion. Deliveries are taken by id, so those taken together are then stored together. */
function byId({ delivery: a }: NewDelivery, { delivery: b }: NewDelivery): number {
  return a.id < b.id ? -1 : 1;
}

async function rowOf(
  handle: Handle,
  { owner, webhookId, id }: { owner: Owner; webhookId: string; id: string },
): Promise<DeliveryRow | undefined> {
  const { sql, bindings } = allOf([ofWebhook(owner, webhookId), { sql: 'id = ?', bindings: [id] }]);
  const [row] = await select({ from: 'deliveries', columns: ['*'] }).rows(handle, `where ${sql}`, bindings);
  return row;
}

/** Condition for the deliveries of a webhook. The webhook's row has the owner, so that one index covers the list. */
function ofWebhook({ organizationId, mode }: Owner, webhookId: string): Sql {
  return {
    sql: `webhook_id = (
      select w.id from webhooks w where w.id = ? and w.organization_id = ? and w.mode = ? and w.deleted_at is null
    )`,
    bindings: [webhookId, organizationId, mode],
  };
}

const deliveryForm = recordForm<Delivery>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  webhookId: 'plain',
  eventId: 'plain',
  eventType: 'plain',
  isTest: 'boolean',
  status: 'plain',
  responseCode: 'plain',
  responseTimeMs: 'plain',
  attempts: 'plain',
  automaticFailures: 'plain',
  hasFailed: 'boolean',
  sending: 'plain',
  lastError: 'plain',
  createdAt: 'plain',
  endedAt: 'plain',
  nextAttemptAt: 'plain',
});

/** Converts a row to a delivery. During an automatic attempt, `next_attempt_at` is the end of the lease. */
export function deliveryOf(row: DeliveryRow): Delivery {
  const delivery = deliveryForm.recordOf(row);
  return row.sending === 'automatic' ? { ...delivery, nextAttemptAt: null } : delivery;
}

/** The same as `deliveryOf`, but an attempt with an expired lease counts as interrupted by a crash. */
export function deliveryAt(row: DeliveryRow, now: number): Delivery {
  const delivery = deliveryOf(row);
  const isCutOff = row.sending !== null && row.locked_until !== null && row.locked_until <= now;
  return isCutOff ? { ...delivery, ...attemptCutOff(delivery, now) } : delivery;
}

export function bodyCell(id: string): SealedCell {
  return { table: 'deliveries', column: 'sealed_body', id };
}

/** Restarts the attempts of deliveries that have failed permanently. Others of these ids stay unchanged. */
export async function retryFailed(handle: Handle, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await execute(
    handle,
    `update deliveries set next_attempt_at = ?, automatic_failures = 0
     where id in (${placeholders(ids.length)}) and status = 'failed' and next_attempt_at is null and sending is null`,
    [now, ...ids],
  );
  announce(handle, 'deliveries');
}

/** Rows per statement. */
const BATCH = 1_000;

/** Fails held deliveries that are too old when a disabled webhook becomes active again (Decision 124). */
export async function failHeldTooLong(handle: Handle, webhookId: string, now: number): Promise<void> {
  for (;;) {
    const rows = await select({ from: 'deliveries', columns: ['*'] }).rows(
      handle,
      `where webhook_id = ? and next_attempt_at is not null and created_at < ?
         and (locked_until is null or locked_until <= ?) limit ?`,
      [webhookId, now - HOLD_LIMIT_MS, now, BATCH],
    );
    const failed = rows.filter(row => isFinal(resumed(deliveryAt(row, now), now)));
    if (failed.length === 0) return;
    await execute(
      handle,
      `update deliveries set status = 'failed', next_attempt_at = null, sending = null, ${RELEASE_LEASE}
       where id in (${placeholders(failed.length)})`,
      failed.map(row => row.id),
    );
  }
}
