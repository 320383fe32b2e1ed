import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { Webhook } from '../../webhooks/model/webhook.ts';
import { timestamp, timestampOrNull } from './timestamp.ts';

/** A webhook as the contract shows it; `now` (UTC ms) decides whether its old secret still signs. */
export function webhookBody(webhook: Webhook, now: number): PaymentsSchemas['Webhook'] {
  const until = webhook.previousSecretUntil;
  return {
    object: 'webhook',
    id: webhook.id,
    mode: webhook.mode,
    url: webhook.url,
    events: [...webhook.events],
    description: webhook.description,
    is_active: webhook.isActive,
    disabled_reason: webhook.disabledReason,
    disabled_at: timestampOrNull(webhook.disabledAt),
    success_count: webhook.successCount,
    failure_count: webhook.failureCount,
    last_triggered_at: timestampOrNull(webhook.lastTriggeredAt),
    previous_secret_expires_at: timestampOrNull(until !== null && until > now ? until : null),
    created_at: timestamp(webhook.createdAt),
    updated_at: timestamp(webhook.updatedAt),
  };
}

/** The same with its secret, for the answers to creation and rotation. Decision 121. */
export function webhookWithSecret(
  webhook: Webhook,
  secret: string,
  now: number,
): PaymentsSchemas['WebhookWithSecret'] {
  return { ...webhookBody(webhook, now), secret };
}
