import type { Transaction } from '../../db/open.ts';
import { newId } from '../../lib/ids.ts';
import { attemptBegun, attemptEnded, canRetry } from '../model/delivery.ts';
import type { NoticePayload } from '../model/notification.ts';
import type { Owner } from '../model/owner.ts';
import {
  type AttemptResult,
  type ClaimedDelivery,
  type Delivery,
  type DeliveryAttempt,
  DISABLE_AFTER_MS,
  type DisableAfterMs,
  type Receiver,
  tallied,
  type Webhook,
  type WebhookTurn,
} from '../model/webhook.ts';
import { noticeStore } from '../notifications/store/notice-store.ts';
import { notificationStore } from '../notifications/store/notification-store.ts';
import { SealError, type Seals } from '../secrets/sealed.ts';
import type { DeliveryRow } from '../tables/event-tables.ts';
import {
  lockedDeliveries,
  lockedWebhook,
  lockedWebhooksOf,
  markTriggered,
  writeBegun,
  writeCounters,
  writeOutcomes,
} from './store/attempt-rows.ts';
import { attemptStore } from './store/attempt-store.ts';
import { bodyCell, deliveryAt, deliveryOf } from './store/delivery-store.ts';
import { subscriptions } from './store/subscriptions.ts';
import { receiverOf, webhookOf } from './store/webhook-store.ts';

/** Lease of a manual attempt, in milliseconds: twice the timeout of sending. */
export const MANUAL_LEASE_MS = 60_000;

/**
 * Begins a manual attempt: a retry, or a test that was just recorded. Undefined when there is no such delivery.
 * `not_allowed` unless the test is new, or the delivery has failed without an attempt in flight (Decision 125).
 * @throws SealError
 */
export async function beginManual(
  handle: Transaction,
  { seals, now }: { seals: Seals; now: number },
  owner: Owner,
  { webhookId, id }: { webhookId: string; id: string },
): Promise<{ delivery: ClaimedDelivery; receiver: Receiver } | 'not_allowed' | undefined> {
  // The webhook is locked before the delivery, as everywhere. Another order could deadlock.
  const webhook = await lockedWebhook(handle, owner, webhookId);
  if (webhook === undefined) return undefined;
  const [row] = await lockedDeliveries(handle, [id]);
  if (row?.webhook_id !== webhookId) return undefined;
  const before = deliveryAt(row, now);
  const isNewTest = before.isTest && before.status === 'pending' && before.sending === null;
  if (!isNewTest && !canRetry(before)) return 'not_allowed';

  const delivery = { ...before, ...attemptBegun(before, 'manual') };
  const token = newId('lease');
  await writeBegun(handle, delivery, { token, until: now + MANUAL_LEASE_MS });
  await markTriggered(handle, [webhookId], now);
  const body = seals.open(row.sealed_body, bodyCell(id));
  return { delivery: { ...delivery, body, token }, receiver: receiverOf(webhook, seals) };
}

/**
 * Writes results of attempts with the counters of their webhooks, and disables webhooks after too many failures, but not
 * before `disableAfterMs`. Returns the updated deliveries. A result whose token no longer holds the delivery is skipped.
 */
export async function endAttempts(
  handle: Transaction,
  seals: Seals,
  results: readonly AttemptResult[],
  { now, disableAfterMs = DISABLE_AFTER_MS }: { now: number; disableAfterMs?: DisableAfterMs | undefined },
): Promise<Delivery[]> {
  if (results.length === 0) return [];
  const ids = results.map(result => result.id);
  const webhooks = new Map<string, Webhook>();
  for (const row of await lockedWebhooksOf(handle, ids)) webhooks.set(row.id, webhookOf(row));
  const rows = new Map((await lockedDeliveries(handle, ids)).map(row => [row.id, row]));

  const ended: { delivery: Delivery; token: string }[] = [];
  const attempts: DeliveryAttempt[] = [];
  const counted = new Set<string>();
  const turned: { webhook: Webhook; turn: WebhookTurn }[] = [];
  for (const result of results.toSorted((a, b) => a.endedAt - b.endedAt)) {
    const row = rows.get(result.id);
    const webhook = row && webhooks.get(row.webhook_id);
    if (row?.locked_by !== result.token || webhook === undefined) continue;
    rows.delete(result.id);
    const { delivery, tally } = attemptEnded(deliveryOf(row), result);
    ended.push({ delivery: withResult({ ...deliveryOf(row), ...delivery }, result), token: result.token });
    const responseBody = webhook.storeResponses ? answerOf(row, result, seals) : null;
    attempts.push({ ...result, deliveryId: row.id, number: delivery.attempts, responseBody });
    // Failures of a former URL do not count for the current one.
    const isOfNow = result.sentTo === webhook.url;
    const counting = isOfNow ? tally : ({ ...tally, streak: 'keep' } as const);
    const rule = { now, disableAfterMs: disableAfterMs[webhook.mode] };
    const { activity, turn } = tallied(webhook, counting, rule);
    const after = { ...webhook, ...activity, updatedAt: turn === 'disabled' ? now : webhook.updatedAt };
    webhooks.set(webhook.id, after);
    counted.add(webhook.id);
    if (turn !== undefined) turned.push({ webhook: after, turn });
  }
  await writeOutcomes(handle, ended);
  await attemptStore(handle, seals).insert(attempts);
  await writeCounters(
    handle,
    [...webhooks.values()].filter(({ id }) => counted.has(id)),
  );
  for (const { webhook, turn } of turned) {
    if (turn === 'disabled') await subscriptions(handle).replace(webhook.id, null, now);
    await noteTurn(handle, seals, { webhook, turn, now });
  }
  return ended.map(({ delivery }) => delivery);
}

/**
 * The answer of an attempt; null when the body of its delivery was replaced during it. Then its customer was erased, and the
 * receiver may have answered with what it got.
 */
function answerOf(
  { id, sealed_body: sealed }: DeliveryRow,
  { sentBody, responseBody }: AttemptResult,
  seals: Seals,
): string | null {
  if (responseBody === null) return null;
  try {
    return seals.open(sealed, bodyCell(id)) === sentBody ? responseBody : null;
  } catch (error) {
    // The result is written although the key of the body is lost.
    if (!(error instanceof SealError)) throw error;
    return null;
  }
}

function withResult(
  delivery: Delivery,
  { responseCode, responseTimeMs, error, endedAt }: AttemptResult,
): Delivery {
  return { ...delivery, responseCode, responseTimeMs, lastError: error, endedAt };
}

/** Queues a mail about a failing webhook. It is sent even when mails are off (Decision 128), but needs an address. */
async function noteTurn(
  handle: Transaction,
  seals: Seals,
  { webhook, turn, now }: { webhook: Webhook; turn: WebhookTurn; now: number },
): Promise<void> {
  const { organizationId, mode, id, url, failingSince } = webhook;
  const settings = await notificationStore(handle).find({ organizationId, mode });
  if (settings === undefined || settings.emailAddress === null) return;
  const about = { webhookId: id, url };
  const payload: NoticePayload =
    turn === 'disabled'
      ? { kind: 'webhook_disabled', ...about, disabledAt: now }
      : { kind: 'webhook_failing', ...about, failingSince: failingSince ?? now };
  await noticeStore(handle, seals).insert([
    { id: newId('ntc'), organizationId, mode, channel: 'email', payload, attempts: 0, createdAt: now },
  ]);
}
