import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { isFinal } from '../../webhooks/model/delivery.ts';
import type { Delivery } from '../../webhooks/model/webhook.ts';
import { timestamp, timestampOrNull } from './timestamp.ts';

/** A delivery as the contract shows it; one of a webhook that is not active is held. Decisions 123 and 124. */
export function deliveryRecord(
  delivery: Delivery,
  { isActive }: { isActive: boolean },
): PaymentsSchemas['WebhookDelivery'] {
  return {
    object: 'webhook_delivery',
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    event: delivery.eventType,
    status: delivery.status,
    is_final: isFinal(delivery),
    is_test: delivery.isTest,
    response_code: delivery.responseCode,
    response_time_ms: delivery.responseTimeMs,
    attempts: delivery.attempts,
    last_error: delivery.lastError,
    next_attempt_at: timestampOrNull(isActive ? delivery.nextAttemptAt : null),
    created_at: timestamp(delivery.createdAt),
  };
}
