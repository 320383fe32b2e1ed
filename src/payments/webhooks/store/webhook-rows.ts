import { booleanOf, jsonColumn } from '#db/columns.ts';
import type { Mode } from '../../model/owner.ts';
import type { Cell, Seals } from '../../secrets/sealed.ts';
import { storedJson, type Values } from '../../store/rows.ts';
import type { Receiver, Webhook, WebhookSecrets } from '../model/webhook.ts';
import type { DisabledReason, WebhookActivity } from '../model/webhook-activity.ts';

/** A row of `webhooks`. */
export interface WebhookRow {
  id: string;
  organization_id: string;
  mode: Mode;
  url: string;
  events: string;
  description: string | null;
  sealed_secret: string;
  sealed_previous_secret: string | null;
  previous_secret_until: number | null;
  is_active: number | boolean;
  disabled_reason: DisabledReason | null;
  disabled_at: number | null;
  failures_in_a_row: number;
  success_count: number;
  failure_count: number;
  last_triggered_at: number | null;
  created_at: number;
  updated_at: number;
}

/** What decides whether a webhook is sent to, by column, without what is only counted. */
export function switchValues({ isActive, disabledReason, disabledAt, failuresInARow }: WebhookActivity) {
  return {
    is_active: isActive,
    disabled_reason: disabledReason,
    disabled_at: disabledAt,
    failures_in_a_row: failuresInARow,
  } satisfies Values;
}

/** What its owner sets, by column. */
export function settingValues({ url, events, description }: Pick<Webhook, 'url' | 'events' | 'description'>) {
  return { url, events: jsonColumn(events), description } satisfies Values;
}

/** The webhook in a row, without its secrets. */
export function webhookOf(row: WebhookRow): Webhook {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    url: row.url,
    events: storedJson(row.events),
    description: row.description,
    previousSecretUntil: row.previous_secret_until,
    isActive: booleanOf(row.is_active),
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at,
    failuresInARow: row.failures_in_a_row,
    successCount: row.success_count,
    failureCount: row.failure_count,
    lastTriggeredAt: row.last_triggered_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Where the deliveries of the webhook in a row go. @throws SealError */
export function receiverOf(row: WebhookRow, seals: Seals): Receiver {
  return { webhookId: row.id, url: row.url, secrets: secretsOf(row, seals) };
}

/** The secrets in a row. @throws SealError */
export function secretsOf(row: WebhookRow, seals: Seals): WebhookSecrets {
  const { sealed_previous_secret: previous, previous_secret_until: until } = row;
  return {
    current: seals.open(row.sealed_secret, secretCell(row.id)),
    previous:
      previous === null || until === null
        ? null
        : { secret: seals.open(previous, previousSecretCell(row.id)), until },
  };
}

export function secretCell(id: string): Cell {
  return { table: 'webhooks', column: 'sealed_secret', id };
}

export function previousSecretCell(id: string): Cell {
  return { table: 'webhooks', column: 'sealed_previous_secret', id };
}
