import { randomBytes } from 'node:crypto';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { newId } from '../../lib/ids.ts';
import { type DeliveryState, type DeliveryTally, newDelivery } from './delivery.ts';
import type { Mode, Owner } from './owner.ts';

/** A type of event, or `*` for all of them. */
export type Subscription = PaymentsSchemas['Subscription'];
/** A type of event, or a test's `test.ping`. */
export type DeliveryEventType = PaymentsSchemas['DeliveryEventType'];

/** A receiver of events. Its secrets are read separately. Times are UTC milliseconds. */
export interface Webhook extends Owner, WebhookActivity {
  readonly id: string;
  readonly url: string;
  /** Types, or `*` alone. */
  readonly events: readonly Subscription[];
  readonly description: string | null;
  /** True when the beginnings of the receiver's answers are kept (Decision 123). */
  readonly storeResponses: boolean;
  /** End of the period in which the previous secret also signs; may be in the past. */
  readonly previousSecretUntil: number | null;
  /** Start of the last attempt. */
  readonly lastTriggeredAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Secrets that sign deliveries. */
export interface WebhookSecrets {
  readonly current: string;
  /** The previous secret, and the end (UTC ms) of the period in which it also signs. The end may be in the past. */
  readonly previous: { readonly secret: string; readonly until: number } | null;
}

/** One event for one webhook. `nextAttemptAt` is null during an automatic attempt. Times are UTC milliseconds. */
export interface Delivery extends Owner, DeliveryState {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: DeliveryEventType;
  /** Status code of the last attempt; null without an answer. */
  readonly responseCode: number | null;
  readonly responseTimeMs: number | null;
  /** Reason of the last failure, in words for the merchant. */
  readonly lastError: string | null;
  /** End of the last attempt. */
  readonly endedAt: number | null;
}

/** A delivery that this process has taken for an attempt. */
export interface ClaimedDelivery extends Delivery {
  /** Text that is sent as UTF-8. */
  readonly body: string;
  /** Proves the lease when the result is written. */
  readonly token: string;
}

/** Destination of a claimed delivery. */
export interface Receiver {
  readonly webhookId: string;
  readonly url: string;
  readonly secrets: WebhookSecrets;
  readonly storeResponses: boolean;
}

/** Result of an attempt. */
export interface AttemptResult {
  /** Id of the delivery. */
  readonly id: string;
  readonly token: string;
  /** The webhook's URL when the attempt began, which received the request. */
  readonly sentTo: string;
  /** Body of the request. */
  readonly sentBody: string;
  readonly isSuccess: boolean;
  readonly responseCode: number | null;
  readonly responseTimeMs: number | null;
  /** In words for the merchant; null when nothing failed. */
  readonly error: string | null;
  /** Beginning of the receiver's answer; null when it is not kept. */
  readonly responseBody: string | null;
  /** UTC milliseconds. */
  readonly endedAt: number;
  /** A random number from 0 to 1: the share of the longest jitter that a retry gets. */
  readonly jitter: number;
}

/** Attempt of a delivery that has ended. */
export interface DeliveryAttempt
  extends Pick<AttemptResult, 'responseCode' | 'responseTimeMs' | 'error' | 'responseBody' | 'endedAt'> {
  readonly deliveryId: string;
  /** 1 for the first. */
  readonly number: number;
}

/** A new delivery of an event or of a test, without attempts. */
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

/** A new secret of a webhook: `whsec_` and 32 random bytes in Base64 (Decision 121). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(BYTES).toString('base64')}`;
}

type DisabledReason = Exclude<PaymentsSchemas['DisabledReason'], null>;

/** Number of consecutive failed deliveries that disables a webhook. Document 3, "Webhook activity". */
export const FAILURES_TO_DISABLE = 10;
/** Number of consecutive failed deliveries after which a mail warns of that. */
const FAILURES_TO_WARN = 5;

/**
 * Least time from the first of the consecutive failures until they disable a webhook, in milliseconds by mode. A restart
 * of a busy shop's receiver fails ten deliveries within seconds (Decision 124).
 */
export type DisableAfterMs = Readonly<Record<Mode, number>>;
export const DISABLE_AFTER_MS: DisableAfterMs = { live: 600_000, test: 0 };

/** State of a webhook and the counters that decide it. */
export interface WebhookActivity {
  readonly isActive: boolean;
  /** Null unless the server disabled it. */
  readonly disabledReason: DisabledReason | null;
  /** UTC milliseconds. */
  readonly disabledAt: number | null;
  readonly failuresInARow: number;
  /** End of the first of these failures, in UTC milliseconds; null without one. */
  readonly failingSince: number | null;
  readonly successCount: number;
  readonly failureCount: number;
}

/** Activity of a new webhook. */
export const NEW_ACTIVITY: WebhookActivity = {
  isActive: true,
  disabledReason: null,
  disabledAt: null,
  failuresInARow: 0,
  failingSince: null,
  successCount: 0,
  failureCount: 0,
};

/** Change of a webhook by an attempt, of which the owner learns by mail. */
export type WebhookTurn = 'warned' | 'disabled';

/**
 * The activity after an attempt that ended at `now`. `turn` is set only for the tally that reaches the number of failures
 * to warn of, or that disables the webhook.
 */
export function tallied(
  activity: WebhookActivity,
  tally: DeliveryTally,
  { now, disableAfterMs }: { now: number; disableAfterMs: number },
): { activity: WebhookActivity; turn?: WebhookTurn } {
  const counted: WebhookActivity = {
    ...activity,
    ...streakAfter(activity, tally.streak, now),
    successCount: activity.successCount + tally.successes,
    failureCount: activity.failureCount + tally.failures,
  };
  const { isActive, failuresInARow, failingSince } = counted;
  if (tally.streak !== 'grow' || !isActive) return { activity: counted };
  const isLong = now - (failingSince ?? now) >= disableAfterMs;
  if (failuresInARow >= FAILURES_TO_DISABLE && isLong) {
    return {
      activity: { ...counted, isActive: false, disabledReason: 'too_many_failures', disabledAt: now },
      turn: 'disabled',
    };
  }
  return { activity: counted, ...(failuresInARow === FAILURES_TO_WARN && { turn: 'warned' }) };
}

const NO_STREAK = { failuresInARow: 0, failingSince: null } as const;

function streakAfter(
  { failuresInARow, failingSince }: WebhookActivity,
  streak: DeliveryTally['streak'],
  now: number,
): Pick<WebhookActivity, 'failuresInARow' | 'failingSince'> {
  if (streak === 'reset') return NO_STREAK;
  if (streak === 'keep') return { failuresInARow, failingSince };
  return {
    failuresInARow: failuresInARow + 1,
    failingSince: failuresInARow === 0 ? now : (failingSince ?? now),
  };
}

/**
 * The activity after a change by the owner. A webhook that the server disabled keeps its reason under `isActive: false`
 * (Decision 124).
 */
export function activityChanged(
  activity: WebhookActivity,
  { isActive = activity.isActive, hasNewUrl }: { isActive?: boolean; hasNewUrl: boolean },
): WebhookActivity {
  const isOwners = isActive || activity.isActive;
  const startsOver = hasNewUrl || (isActive && !activity.isActive);
  return {
    ...activity,
    isActive,
    disabledReason: isOwners ? null : activity.disabledReason,
    disabledAt: isOwners ? null : activity.disabledAt,
    ...(startsOver && NO_STREAK),
  };
}
