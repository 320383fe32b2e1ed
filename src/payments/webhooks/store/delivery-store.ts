import type { Binding } from '#db/columns.ts';
import { insertRows } from '#db/insert.ts';
import type { Handle } from '#db/open.ts';
import { execute, rowsOf, type Sql } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { allOf } from '../../store/conditions.ts';
import { type ListPage, type Page, paged } from '../../store/paging.ts';
import type { DeliveryStatus } from '../model/delivery.ts';
import type { Delivery, DeliveryEventType } from '../model/webhook.ts';
import { bodyCell, type DeliveryRow, deliveryOf, deliveryValues } from './delivery-rows.ts';

/** How long deliveries are kept, in milliseconds. Decision 123. */
export const DELIVERY_LIFETIME_MS = 30 * DAY_MS;

/** A delivery, and the text that all its attempts send. */
export interface NewDelivery {
  readonly delivery: Delivery;
  readonly body: string;
}

/** What a list of deliveries is narrowed to. */
export interface DeliveryFilters {
  readonly status?: DeliveryStatus | undefined;
  readonly eventType?: DeliveryEventType | undefined;
}

/** The deliveries. Bodies are sealed. */
export interface DeliveryStore {
  /** A second one of an event and webhook is dropped, unless it is a test. */
  insert(deliveries: readonly NewDelivery[]): Promise<void>;
  find(owner: Owner, webhookId: string, id: string): Promise<Delivery | undefined>;
  /** The newest first. */
  list(owner: Owner, webhookId: string, filters: DeliveryFilters, page: Page): Promise<ListPage<Delivery>>;
  /** Removes up to `limit` that are older than a time (UTC ms) and not being sent; answers with how many. */
  removeOld(old: { before: number; limit: number }): Promise<number>;
  /** Removes up to `limit` of a webhook, whatever their state; answers with how many. */
  removeOf(webhookId: string, limit: number): Promise<number>;
}

export function deliveryStore(handle: Handle, seals: Seals): DeliveryStore {
  return {
    async insert(deliveries) {
      const rows = deliveries.map(({ delivery, body }) => ({
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
    },

    async find(owner, webhookId, id) {
      const { sql, bindings } = allOf([ofWebhook(owner, webhookId), { sql: 'id = ?', bindings: [id] }]);
      const [row] = await rowsOf<DeliveryRow>(handle, `select * from deliveries where ${sql}`, bindings);
      return row && deliveryOf(row);
    },

    list(owner, webhookId, { status, eventType }, page) {
      const where = allOf([
        ofWebhook(owner, webhookId),
        when('status = ?', status),
        when('event_type = ?', eventType),
      ]);
      const listing = { table: 'deliveries', where, order: 'created_at desc, id desc' };
      return paged(handle, listing, page, deliveryOf);
    },

    removeOld({ before, limit }) {
      return execute(
        handle,
        `delete from deliveries where id in (
           select id from deliveries where created_at < ? and sending is null order by created_at limit ?
         )`,
        [before, limit],
      );
    },

    removeOf(webhookId, limit) {
      return execute(
        handle,
        'delete from deliveries where id in (select id from deliveries where webhook_id = ? limit ?)',
        [webhookId, limit],
      );
    },
  };
}

/** Compared with the webhook's owner, not the delivery's: so an index alone can answer. */
function ofWebhook({ organizationId, mode }: Owner, webhookId: string): Sql {
  return {
    sql: 'webhook_id = (select w.id from webhooks w where w.id = ? and w.organization_id = ? and w.mode = ?)',
    bindings: [webhookId, organizationId, mode],
  };
}

function when(sql: string, value: Binding | undefined): Sql | undefined {
  return value === undefined ? undefined : { sql, bindings: [value] };
}
