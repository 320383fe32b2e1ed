import { randomBytes } from 'node:crypto';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { newId } from '../../lib/ids.ts';
import { type DeliveryState, newDelivery, type Tally } from './delivery.ts';
import type { Owner } from './owner.ts';

/** A type of event, or `*` for all of them. */
export type Subscription = PaymentsSchemas['Subscription'];
/** A type of event, or a test's `test.ping`. */
export type DeliveryEventType = PaymentsSchemas['DeliveryEventType'];

/** Where events are sent to. Its secrets are read apart from it. Times are UTC milliseconds. */
export interface Webhook extends Owner, WebhookActivity {
  readonly id: string;
  readonly url: string;
  /** Types, or `*` alone. */
  readonly events: readonly Subscription[];
  readonly description: string | null;
  /** Until when the old secret signs too, also when that is over. */
  readonly previousSecretUntil: number | null;
  /** When the last attempt began. */
  readonly lastTriggeredAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What deliveries are signed with. */
export interface WebhookSecrets {
  readonly current: string;
  /** The one before, and until when (UTC ms) it signs too, also when that is over. */
  readonly previous: { readonly secret: string; readonly until: number } | null;
}

/** One event for one webhook. While an automatic attempt is under way `nextAttemptAt` is null. Times are UTC milliseconds. */
export interface Delivery extends Owner, DeliveryState {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: DeliveryEventType;
  /** Of the last attempt; null when no answer came. */
  readonly responseCode: number | null;
  readonly responseTimeMs: number | null;
  /** Why the last attempt failed, in words for the merchant. */
  readonly lastError: string | null;
  /** When the last attempt ended. */
  readonly endedAt: number | null;
}

/** A delivery with an attempt under way that is nobody else's. */
export interface ClaimedDelivery extends Delivery {
  /** The text whose UTF-8 bytes are sent. */
  readonly body: string;
  /** Proves the claim to whoever writes the result. */
  readonly token: string;
}

/** Where a claimed delivery goes. */
export interface Receiver {
  readonly webhookId: string;
  readonly url: string;
  readonly secrets: WebhookSecrets;
}

/** What came of an attempt. */
export interface AttemptResult {
  /** The delivery's. */
  readonly id: string;
  readonly token: string;
  /** The address that the request went to: the webhook's when the attempt began. */
  readonly sentTo: string;
  readonly isSuccess: boolean;
  readonly responseCode: number | null;
  readonly responseTimeMs: number | null;
  /** In words for the merchant; null when nothing failed. */
  readonly error: string | null;
  /** UTC milliseconds. */
  readonly endedAt: number;
  /** 0 to 1, by chance: how much of the jitter a retry gets. */
  readonly jitter: number;
}

/** A delivery of an event, or of a test, that nothing was sent of yet. */
export function newDeliveryOf(
  event: Owner & { readonly id: string; readonly type: DeliveryEventType },
  webhookId: string,
  { isTest, now }: { isTest: boolean; now: number },
): Delivery {
  return {
    ...newDelivery({ isTest, now }),
    id: newId('del'),
    organizationId: event.organizationId,
    mode: event.mode,
    webhookId,
    eventId: event.id,
    eventType: event.type,
    responseCode: null,
    responseTimeMs: null,
    lastError: null,
    endedAt: null,
  };
}

const BYTES = 32;

/** A new secret of a webhook: `whsec_` and 32 random bytes in Base64. Decision 121. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(BYTES).toString('base64')}`;
}

export type DisabledReason = Exclude<PaymentsSchemas['DisabledReason'], null>;

/** So many deliveries that failed in a row disable a webhook. Document 3, "Webhook activity". */
export const FAILURES_TO_DISABLE = 10;

/** Whether a webhook is sent to, and what decides it. */
export interface WebhookActivity {
  readonly isActive: boolean;
  /** Null unless we switched it off. */
  readonly disabledReason: DisabledReason | null;
  /** UTC milliseconds. */
  readonly disabledAt: number | null;
  readonly failuresInARow: number;
  readonly successCount: number;
  readonly failureCount: number;
}

/** The activity of a webhook that was just made. */
export const NEW_ACTIVITY: WebhookActivity = {
  isActive: true,
  disabledReason: null,
  disabledAt: null,
  failuresInARow: 0,
  successCount: 0,
  failureCount: 0,
};

/** The activity after an attempt. `isDisabledNow` asks for the mail about it: only one tally of a row says so. */
export function tallied(
  activity: WebhookActivity,
  tally: Tally,
  now: number,
): { activity: WebhookActivity; isDisabledNow: boolean } {
  const row = { 'begins anew': 0, grows: activity.failuresInARow + 1, stays: activity.failuresInARow };
  const counted: WebhookActivity = {
    ...activity,
    failuresInARow: row[tally.row],
    successCount: activity.successCount + tally.successes,
    failureCount: activity.failureCount + tally.failures,
  };
  const isDisabledNow = counted.isActive && counted.failuresInARow >= FAILURES_TO_DISABLE;
  if (!isDisabledNow) return { activity: counted, isDisabledNow };
  return {
    activity: { ...counted, isActive: false, disabledReason: 'too_many_failures', disabledAt: now },
    isDisabledNow,
  };
}

/** The activity after a change by its owner. One that we switched off stays so under `isActive: false`. Decision 124. */
export function activityChanged(
  activity: WebhookActivity,
  { isActive = activity.isActive, hasNewUrl }: { isActive?: boolean; hasNewUrl: boolean },
): WebhookActivity {
  const isOwners = isActive || activity.isActive;
  const beginsAnew = hasNewUrl || (isActive && !activity.isActive);
  return {
    ...activity,
    isActive,
    disabledReason: isOwners ? null : activity.disabledReason,
    disabledAt: isOwners ? null : activity.disabledAt,
    failuresInARow: beginsAnew ? 0 : activity.failuresInARow,
  };
}
