import type { Binding } from '#db/columns.ts';
import { RELEASE_LEASE } from '#db/lease.ts';
import type { Handle, Transaction } from '#db/open.ts';
import { execute, rowLock, rowsOf } from '#db/query.ts';
import type { Owner } from '../../model/owner.ts';
import type { Delivery, Webhook } from '../../model/webhook.ts';
import { ownedRow } from '../../store/list-query.ts';
import type { DeliveryRow, WebhookRow } from '../../tables/event-tables.ts';
import { select } from '../../tables/select.ts';
import { switchValues } from './webhook-store.ts';

/** Reads and locks a webhook of an owner, unless it is deleted, until the transaction ends. */
export async function lockedWebhook(
  handle: Transaction,
  owner: Owner,
  id: string,
): Promise<WebhookRow | undefined> {
  const { sql, bindings } = ownedRow(owner, id);
  const [webhook] = await select({ from: 'webhooks', columns: ['*'] }).rows(
    handle,
    `where ${sql} and deleted_at is null${rowLock(handle, 'for no key update')}`,
    bindings,
  );
  return webhook;
}

/**
 * Locks webhooks, and the webhooks of deliveries, for a transaction that changes both. A common order prevents
 * deadlocks between such transactions.
 */
export async function lockWebhooks(
  handle: Transaction,
  { webhookIds, deliveryIds }: { webhookIds: readonly string[]; deliveryIds: readonly string[] },
): Promise<void> {
  const lock = rowLock(handle, 'for no key update');
  if (lock === '' || webhookIds.length === 0 || deliveryIds.length === 0) return;
  // A union, because PostgreSQL scans the whole table for an `or`.
  await rowsOf(
    handle,
    `select id from webhooks where id in (
       ${idsOf(handle)} union select webhook_id from deliveries where id in (${idsOf(handle)})
     ) order by id${lock}`,
    [bound(webhookIds), bound(deliveryIds)],
  );
}

/** Reads and locks the webhooks of deliveries until the transaction ends. */
export function lockedWebhooksOf(handle: Transaction, deliveryIds: readonly string[]): Promise<WebhookRow[]> {
  return select({ from: 'webhooks', columns: ['*'] }).rows(
    handle,
    `where id in (
       select webhook_id from deliveries where id in (${idsOf(handle)})
     ) order by id${rowLock(handle, 'for no key update')}`,
    [bound(deliveryIds)],
  );
}

/** Reads and locks deliveries until the transaction ends. */
export function lockedDeliveries(handle: Transaction, ids: readonly string[]): Promise<DeliveryRow[]> {
  return select({ from: 'deliveries', columns: ['*'] }).rows(
    handle,
    `where id in (${idsOf(handle)}) order by id${rowLock(handle, 'for update')}`,
    [bound(ids)],
  );
}

/** A `select` of the ids that `bound` binds. */
function idsOf({ dialect }: Handle): string {
  return `select value ->> 0 from ${dialect.jsonElements}`;
}

function bound(ids: readonly string[]): string {
  return JSON.stringify(ids.map(id => [id]));
}

/** Writes a delivery whose attempt has begun, with the token and the end (UTC ms) of its lease. */
export async function writeBegun(
  handle: Transaction,
  { id, attempts, sending, nextAttemptAt }: Delivery,
  { token, until }: { token: string; until: number },
): Promise<void> {
  const lease = { next_attempt_at: nextAttemptAt, locked_until: until, locked_by: token };
  await handle('deliveries')
    .where({ id })
    .update({ attempts, sending, ...lease });
}

/** Sets `last_triggered_at` of webhooks. */
export async function markTriggered(handle: Transaction, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return;
  const sql = `update webhooks set last_triggered_at = ? where id in (${idsOf(handle)})`;
  await execute(handle, sql, [now, bound(ids)]);
}

/** Writes the counters of webhooks, and their state when disabled. */
export async function writeCounters(handle: Transaction, webhooks: readonly Webhook[]): Promise<void> {
  for (const webhook of webhooks) {
    const counters = { success_count: webhook.successCount, failure_count: webhook.failureCount };
    const values = { ...switchValues(webhook), ...counters, updated_at: webhook.updatedAt };
    const set = Object.keys(values).map(column => `${column} = ?`);
    const sql = `update webhooks set ${set.join(', ')} where id = ?`;
    await execute(handle, sql, [...Object.values(values), webhook.id]);
  }
}

/** Columns of an outcome, with the types that the database reads them as from JSON. */
const COLUMNS = {
  id: 'text',
  token: 'text',
  status: 'text',
  response_code: 'bigint',
  response_time_ms: 'bigint',
  automatic_failures: 'bigint',
  has_failed: 'boolean',
  last_error: 'text',
  ended_at: 'bigint',
  next_attempt_at: 'bigint',
} as const;

const OUTCOME = Object.entries(COLUMNS)
  .map(([name, type], index) => `cast(value ->> ${index} as ${type}) as ${name}`)
  .join(', ');

/**
 * Writes deliveries whose attempt has ended and releases their leases. Skips a delivery that the token no longer holds.
 */
export async function writeOutcomes(
  handle: Handle,
  ended: readonly { delivery: Delivery; token: string }[],
): Promise<void> {
  if (ended.length === 0) return;
  // The last condition is redundant, but without it SQLite scans the whole table for some hundred rows.
  await execute(
    handle,
    `with outcome as materialized (select ${OUTCOME} from ${handle.dialect.jsonElements})
     update deliveries set status = outcome.status, response_code = outcome.response_code,
       response_time_ms = outcome.response_time_ms, automatic_failures = outcome.automatic_failures,
       has_failed = outcome.has_failed, last_error = outcome.last_error, ended_at = outcome.ended_at,
       next_attempt_at = outcome.next_attempt_at, sending = null, ${RELEASE_LEASE}
     from outcome where deliveries.id = outcome.id and deliveries.locked_by = outcome.token
       and deliveries.id in (select id from outcome)`,
    [JSON.stringify(ended.map(({ delivery, token }) => Object.values(valuesOf(delivery, token))))],
  );
}

function valuesOf(delivery: Delivery, token: string) {
  return {
    id: delivery.id,
    token,
    status: delivery.status,
    response_code: delivery.responseCode,
    response_time_ms: delivery.responseTimeMs,
    automatic_failures: delivery.automaticFailures,
    has_failed: delivery.hasFailed,
    last_error: delivery.lastError,
    ended_at: delivery.endedAt,
    next_attempt_at: delivery.nextAttemptAt,
  } satisfies Record<keyof typeof COLUMNS, Binding>;
}
