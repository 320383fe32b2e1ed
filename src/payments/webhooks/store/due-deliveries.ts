import { dueRows, RELEASE_LEASE } from '#db/lease.ts';
import type { Db, Transaction } from '#db/open.ts';
import { execute, rowLock } from '#db/query.ts';
import { placeholders } from '#db/rows.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { ClaimedDelivery } from '../../model/webhook.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { openEach, postponeRows } from '../../secrets/unopened-rows.ts';
import type { DeliveryRow, WebhookRow } from '../../tables/event-tables.ts';
import { select } from '../../tables/select.ts';
import { bodyCell, deliveryOf } from './delivery-store.ts';

/** Lease of an automatic attempt, in milliseconds: three times the timeout of sending. */
export const LEASE_MS = 90_000;

/** An active webhook with due deliveries. */
export interface WebhookWithDue {
  readonly webhookId: string;
  readonly organizationId: string;
  /** Due time of its oldest due delivery, in UTC milliseconds. */
  readonly dueSince: number;
}

/**
 * Active webhooks with due deliveries, unordered. The recursive query skips from webhook to webhook in the partial
 * index of open deliveries, so its cost depends neither on finished deliveries nor on the number of due ones.
 */
export async function webhooksWithDue(db: Db, now: number): Promise<WebhookWithDue[]> {
  const next = (after: string) =>
    `(select webhook_id from deliveries where next_attempt_at is not null${after} order by webhook_id limit 1)`;
  const rows = await select({
    with: `with recursive pending (webhook_id) as (
       select ${next('')}
       union all
       select ${next(' and webhook_id > pending.webhook_id')} from pending where pending.webhook_id is not null
     )`,
    computed: {
      id: ['text', 'id'],
      organization_id: ['text', 'organization_id'],
      due_since: ['time', 'due_since'],
    },
  }).rows(
    db,
    `from (
       select w.id, w.organization_id, (
         select min(d.next_attempt_at) from deliveries d where d.webhook_id = w.id and d.next_attempt_at <= ?
       ) as due_since
       from pending join webhooks w on w.id = pending.webhook_id where w.is_active
     ) as due where due_since is not null`,
    [now],
  );
  return rows.map(({ id, organization_id, due_since }) => ({
    webhookId: id,
    organizationId: organization_id,
    dueSince: due_since,
  }));
}

/** Reads and locks the active webhooks among these ids until the transaction ends. */
export function lockedActive(handle: Transaction, ids: readonly string[]): Promise<WebhookRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return select({ from: 'webhooks', columns: ['*'] }).rows(
    handle,
    `where is_active and id in (${placeholders(ids.length)})
     order by id${rowLock(handle, 'for no key update')}`,
    ids,
  );
}

/**
 * Begins up to `limit` automatic attempts of one webhook. A delivery that cannot be decrypted waits for the time of a
 * lease, without an attempt.
 */
export async function takeDeliveries(
  handle: Transaction,
  { webhookId, limit }: { webhookId: string; limit: number },
  { seals, clock, log }: { seals: Seals; clock: Clock; log: Logger },
): Promise<ClaimedDelivery[]> {
  const until = clock.now() + LEASE_MS;
  const { rows } = await dueRows<DeliveryRow>('deliveries', clock).take(handle, {
    limit,
    leaseMs: LEASE_MS,
    where: { sql: 'webhook_id = ?', bindings: [webhookId] },
    // The same change as `attemptBegun`. It is due again when the lease ends, so no query reads it before.
    set: {
      sql: "attempts = attempts + 1, sending = 'automatic', next_attempt_at = ?",
      bindings: [until],
    },
  });
  const { opened, unopened } = openEach(rows, row => claimed(row, seals), log);
  const undo = 'attempts = attempts - 1, sending = null';
  await postponeRows(handle, { table: 'deliveries', ids: unopened, until, undo });
  return opened;
}

/**
 * Postpones all due deliveries of a webhook whose secret cannot be decrypted. Otherwise they stay due at every pass.
 */
export async function putOffAll(handle: Transaction, webhookId: string, now: number): Promise<void> {
  await execute(
    handle,
    `update deliveries set next_attempt_at = ?, sending = null, ${RELEASE_LEASE}
     where webhook_id = ? and next_attempt_at <= ? and (locked_until is null or locked_until <= ?)`,
    [now + LEASE_MS, webhookId, now, now],
  );
}

/** Locks up to `limit` deliveries with a manual attempt whose lease has expired. */
export function cutOffDeliveries(handle: Transaction, limit: number, now: number): Promise<DeliveryRow[]> {
  return select({ from: 'deliveries', columns: ['*'] }).rows(
    handle,
    `where sending = 'manual' and locked_until <= ?
     order by locked_until limit ?${rowLock(handle, 'for update skip locked')}`,
    [now, limit],
  );
}

function claimed(row: DeliveryRow, seals: Seals): ClaimedDelivery {
  const body = seals.open(row.sealed_body, bodyCell(row.id));
  return { ...deliveryOf(row), body, token: row.locked_by ?? '' };
}
