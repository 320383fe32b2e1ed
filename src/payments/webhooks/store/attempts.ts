import { placeholders } from '#db/insert.ts';
import type { Transaction } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { newId } from '#lib/ids.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { updateRows } from '../../store/rows.ts';
import { attemptBegun, attemptEnded, canRetry } from '../model/delivery.ts';
import type { AttemptResult, ClaimedDelivery, Delivery, Receiver, Webhook } from '../model/webhook.ts';
import { tallied } from '../model/webhook-activity.ts';
import { writeOutcomes } from './attempt-outcomes.ts';
import { bodyCell, type DeliveryRow, deliveryAt, deliveryOf } from './delivery-rows.ts';
import { noteDisabled } from './disabled-notice.ts';
import { rowLock } from './row-lock.ts';
import { subscriptions } from './subscriptions.ts';
import { receiverOf, switchValues, type WebhookRow, webhookOf } from './webhook-rows.ts';

/** How long a manual attempt is nobody else's, in milliseconds: twice what sending may take. */
export const MANUAL_LEASE_MS = 60_000;

/**
 * Begins a manual attempt: a retry, or a test that was just recorded. Undefined when there is no such delivery,
 * `not_allowed` when its state allows none. Decision 125. @throws SealError
 */
export async function beginManual(
  handle: Transaction,
  { seals, now }: { seals: Seals; now: number },
  owner: Owner,
  { webhookId, id }: { webhookId: string; id: string },
): Promise<{ delivery: ClaimedDelivery; receiver: Receiver } | 'not_allowed' | undefined> {
  // The webhook first, as everywhere: two that lock both in turn would wait for each other.
  const [webhook] = await rowsOf<WebhookRow>(
    handle,
    `select * from webhooks where id = ? and organization_id = ? and mode = ?${rowLock(handle, 'for no key update')}`,
    [webhookId, owner.organizationId, owner.mode],
  );
  if (webhook === undefined) return undefined;
  const [row] = await lockedDeliveries(handle, [id]);
  if (row?.webhook_id !== webhookId) return undefined;
  const before = deliveryAt(row, now);
  const isNewTest = before.isTest && before.status === 'pending' && before.sending === null;
  if (!isNewTest && !canRetry(before)) return 'not_allowed';

  const delivery = { ...before, ...attemptBegun(before, 'manual') };
  const token = newId('lease');
  const { attempts, sending, nextAttemptAt } = delivery;
  const lease = { next_attempt_at: nextAttemptAt, locked_until: now + MANUAL_LEASE_MS, locked_by: token };
  await updateRows(handle, 'deliveries', { attempts, sending, ...lease }, { sql: 'id = ?', bindings: [id] });
  await markTriggered(handle, [webhookId], now);
  const body = seals.open(row.sealed_body, bodyCell(id));
  return { delivery: { ...delivery, body, token }, receiver: receiverOf(webhook, seals) };
}

/**
 * Writes what came of attempts, with the counters of their webhooks, and what disables one. Answers with the
 * deliveries as they are then; what its token no longer holds is left out, and to whoever holds it.
 */
export async function endAttempts(
  handle: Transaction,
  seals: Seals,
  results: readonly AttemptResult[],
  now: number,
): Promise<Delivery[]> {
  if (results.length === 0) return [];
  const ids = results.map(result => result.id);
  const webhooks = new Map<string, Webhook>();
  for (const row of await lockedWebhooks(handle, ids)) webhooks.set(row.id, webhookOf(row));
  const rows = new Map((await lockedDeliveries(handle, ids)).map(row => [row.id, row]));

  const ended: { delivery: Delivery; token: string }[] = [];
  const counted = new Set<string>();
  const disabled: Webhook[] = [];
  for (const result of results.toSorted((a, b) => a.endedAt - b.endedAt)) {
    const row = rows.get(result.id);
    const webhook = row && webhooks.get(row.webhook_id);
    if (row?.locked_by !== result.token || webhook === undefined) continue;
    rows.delete(result.id);
    const { delivery, tally } = attemptEnded(deliveryOf(row), result);
    ended.push({ delivery: withResult({ ...deliveryOf(row), ...delivery }, result), token: result.token });
    // What the address before failed at says nothing about the one that there is now.
    const isOfNow = result.sentTo === webhook.url;
    const { activity, isDisabledNow } = tallied(webhook, isOfNow ? tally : { ...tally, row: 'stays' }, now);
    const after = { ...webhook, ...activity, updatedAt: isDisabledNow ? now : webhook.updatedAt };
    webhooks.set(webhook.id, after);
    counted.add(webhook.id);
    if (isDisabledNow) disabled.push(after);
  }
  await writeOutcomes(handle, ended);
  await writeCounters(
    handle,
    [...webhooks.values()].filter(({ id }) => counted.has(id)),
  );
  for (const webhook of disabled) {
    await subscriptions(handle).replace(webhook.id, null, now);
    await noteDisabled(handle, seals, webhook, now);
  }
  return ended.map(({ delivery }) => delivery);
}

/** Sets `last_triggered_at` of webhooks. */
export async function markTriggered(handle: Transaction, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return;
  const where = { sql: `id in (${placeholders(ids.length)})`, bindings: ids };
  await updateRows(handle, 'webhooks', { last_triggered_at: now }, where);
}

function withResult(
  delivery: Delivery,
  { responseCode, responseTimeMs, error, endedAt }: AttemptResult,
): Delivery {
  return { ...delivery, responseCode, responseTimeMs, lastError: error, endedAt };
}

function lockedWebhooks(handle: Transaction, deliveryIds: readonly string[]): Promise<WebhookRow[]> {
  return rowsOf<WebhookRow>(
    handle,
    `select * from webhooks where id in (
       select webhook_id from deliveries where id in (${placeholders(deliveryIds.length)})
     ) order by id${rowLock(handle, 'for no key update')}`,
    deliveryIds,
  );
}

function lockedDeliveries(handle: Transaction, ids: readonly string[]): Promise<DeliveryRow[]> {
  return rowsOf<DeliveryRow>(
    handle,
    `select * from deliveries where id in (${placeholders(ids.length)}) order by id${rowLock(handle, 'for update')}`,
    ids,
  );
}

async function writeCounters(handle: Transaction, webhooks: readonly Webhook[]): Promise<void> {
  for (const webhook of webhooks) {
    const counters = { success_count: webhook.successCount, failure_count: webhook.failureCount };
    const values = { ...switchValues(webhook), ...counters, updated_at: webhook.updatedAt };
    await updateRows(handle, 'webhooks', values, { sql: 'id = ?', bindings: [webhook.id] });
  }
}
