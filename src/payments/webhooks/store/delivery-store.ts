import { booleanOf, type Column } from '#db/columns.ts';
import { LET_GO } from '#db/lease.ts';
import type { Handle } from '#db/open.ts';
import { execute, rowsOf, type Sql } from '#db/query.ts';
import { insertRows, placeholders } from '#db/rows.ts';
import { announce } from '#db/woken-worker.ts';
import { DAY_MS } from '#lib/clock.ts';
import { attemptCutOff, type DeliveryStatus, HOLD_LIMIT_MS, isFinal, resumed } from '../../model/delivery.ts';
import type { Owner } from '../../model/owner.ts';
import type { Delivery, DeliveryEventType } from '../../model/webhook.ts';
import type { Cell, Seals } from '../../secrets/sealed.ts';
import { allOf, given, type ListPage, type Page, paged } from '../../store/list-query.ts';
import type { DeliveryRow } from '../../tables/event-tables.ts';

/** How long deliveries are kept, in milliseconds. Decision 123. */
export const DELIVERY_LIFETIME_MS = 30 * DAY_MS;

/** A delivery, and the text that all its attempts send. */
export interface NewDelivery {
  readonly delivery: Delivery;
  readonly body: string;
}

/** What a list of deliveries is narrowed to. Times are UTC milliseconds of recording: from this one, to before that one. */
export interface DeliveryFilters {
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: DeliveryEventType | undefined;
  readonly eventId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The deliveries. Bodies are sealed. */
export function deliveryStore(handle: Handle, seals: Seals) {
  return {
    /** A second one of an event and webhook is dropped, unless it is a test. */
    async insert(deliveries: readonly NewDelivery[]): Promise<void> {
      const rows = deliveries.toSorted(byId).map(({ delivery, body }) => ({
        ...deliveryValues(delivery),
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

    /** The same with the text that its attempts send. @throws SealError when no key opens it. */
    async findWithBody(
      owner: Owner,
      webhookId: string,
      id: string,
    ): Promise<(Delivery & { readonly body: string }) | undefined> {
      const row = await rowOf(handle, { owner, webhookId, id });
      return row && { ...deliveryOf(row), body: seals.open(row.sealed_body, bodyCell(id)) };
    },

    /** The newest first. */
    list(
      owner: Owner,
      webhookId: string,
      { status, eventType, eventId, from, to }: DeliveryFilters,
      page: Page,
    ): Promise<ListPage<Delivery>> {
      const where = allOf([
        ofWebhook(owner, webhookId),
        given('status = ?', status),
        given('event_type = ?', eventType),
        given('event_id = ?', eventId),
        given('created_at >= ?', from),
        given('created_at < ?', to),
      ]);
      const listing = { table: 'deliveries', where, order: 'created_at desc, id desc' } as const;
      return paged(handle, listing, page, deliveryOf);
    },

    /** Removes up to `limit` that are older than a time (UTC ms) and not being sent; answers with how many. */
    removeOld({ before, limit }: { before: number; limit: number }): Promise<number> {
      return execute(
        handle,
        `delete from deliveries where id in (
           select id from deliveries where created_at < ? and sending is null order by created_at limit ?
         )`,
        [before, limit],
      );
    },

    /** Removes up to `limit` of a webhook, whatever their state; answers with how many. */
    removeOf(webhookId: string, limit: number): Promise<number> {
      return execute(
        handle,
        'delete from deliveries where id in (select id from deliveries where webhook_id = ? limit ?)',
        [webhookId, limit],
      );
    },
  };
}

/** Deliveries are taken in the order of their ids: what is taken together then stands together. */
function byId({ delivery: a }: NewDelivery, { delivery: b }: NewDelivery): number {
  return a.id < b.id ? -1 : 1;
}

async function rowOf(
  handle: Handle,
  { owner, webhookId, id }: { owner: Owner; webhookId: string; id: string },
): Promise<DeliveryRow | undefined> {
  const { sql, bindings } = allOf([ofWebhook(owner, webhookId), { sql: 'id = ?', bindings: [id] }]);
  const [row] = await rowsOf<DeliveryRow>(handle, `select * from deliveries where ${sql}`, bindings);
  return row;
}

/** Compared with the webhook's owner, not the delivery's: so an index alone can answer. */
function ofWebhook({ organizationId, mode }: Owner, webhookId: string): Sql {
  return {
    sql: 'webhook_id = (select w.id from webhooks w where w.id = ? and w.organization_id = ? and w.mode = ?)',
    bindings: [webhookId, organizationId, mode],
  };
}

/** A whole delivery of which no attempt is under way, by column, without its body. */
function deliveryValues(delivery: Delivery) {
  return {
    id: delivery.id,
    organization_id: delivery.organizationId,
    mode: delivery.mode,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    is_test: Number(delivery.isTest),
    status: delivery.status,
    response_code: delivery.responseCode,
    response_time_ms: delivery.responseTimeMs,
    attempts: delivery.attempts,
    automatic_failures: delivery.automaticFailures,
    has_failed: Number(delivery.hasFailed),
    sending: delivery.sending,
    last_error: delivery.lastError,
    created_at: delivery.createdAt,
    ended_at: delivery.endedAt,
    next_attempt_at: delivery.nextAttemptAt,
  } satisfies Record<Exclude<keyof DeliveryRow, 'sealed_body' | 'locked_until' | 'locked_by'>, Column>;
}

/** The delivery in a row. The time at which a lease ends is none at which an attempt is due. */
export function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    eventType: row.event_type,
    isTest: booleanOf(row.is_test),
    status: row.status,
    responseCode: row.response_code,
    responseTimeMs: row.response_time_ms,
    attempts: row.attempts,
    automaticFailures: row.automatic_failures,
    hasFailed: booleanOf(row.has_failed),
    sending: row.sending,
    lastError: row.last_error,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    nextAttemptAt: row.sending === 'automatic' ? null : row.next_attempt_at,
  };
}

/** As `deliveryOf`, without the attempt whose lease has run out: its process has died over it. */
export function deliveryAt(row: DeliveryRow, now: number): Delivery {
  const delivery = deliveryOf(row);
  const isCutOff = row.sending !== null && row.locked_until !== null && row.locked_until <= now;
  return isCutOff ? { ...delivery, ...attemptCutOff(delivery, now) } : delivery;
}

export function bodyCell(id: string): Cell {
  return { table: 'deliveries', column: 'sealed_body', id };
}

/** Has deliveries that failed for good begin their attempts anew; others of these ids stay as they are. */
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
      `update deliveries set status = 'failed', next_attempt_at = null, sending = null, ${LET_GO}
       where id in (${placeholders(failed.length)})`,
      failed.map(row => row.id),
    );
  }
}
