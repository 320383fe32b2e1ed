import { randomBytes } from 'node:crypto';
import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { newId } from '#lib/ids.ts';
import type { Owner } from '../../model/owner.ts';
import { type DeliveryState, newDelivery } from './delivery.ts';
import type { WebhookActivity } from './webhook-activity.ts';

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
