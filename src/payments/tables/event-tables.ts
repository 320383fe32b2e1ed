import type { StoredBoolean } from '#db/columns.ts';
import type { LeasableRow } from '#db/lease.ts';
import type { AttemptKind, DeliveryStatus } from '../model/delivery.ts';
import type { EventType } from '../model/event.ts';
import type { Channel, NoticePayload } from '../model/notification.ts';
import type { DeliveryEventType, DisabledReason } from '../model/webhook.ts';
import type { OwnerColumns } from './organization-tables.ts';

export interface EventRow extends OwnerColumns, LeasableRow {
  type: EventType;
  fact: string;
  sealed_data: string;
  created_at: number;
  place: number;
}

export interface WebhookRow extends OwnerColumns {
  id: string;
  url: string;
  events: string;
  description: string | null;
  sealed_secret: string;
  sealed_previous_secret: string | null;
  previous_secret_until: number | null;
  is_active: StoredBoolean;
  disabled_reason: DisabledReason | null;
  disabled_at: number | null;
  failures_in_a_row: number;
  success_count: number;
  failure_count: number;
  last_triggered_at: number | null;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface SubscriptionRow {
  webhook_id: string;
  events: string;
  since: number;
  until: number | null;
}

export interface DeliveryRow extends OwnerColumns, LeasableRow {
  webhook_id: string;
  event_id: string;
  event_type: DeliveryEventType;
  sealed_body: string;
  is_test: StoredBoolean;
  status: DeliveryStatus;
  response_code: number | null;
  response_time_ms: number | null;
  attempts: number;
  automatic_failures: number;
  has_failed: StoredBoolean;
  sending: AttemptKind | null;
  last_error: string | null;
  created_at: number;
  ended_at: number | null;
}

export interface ReplayRow extends OwnerColumns, LeasableRow {
  webhook_id: string;
  after_time: number;
  after_place: number;
  after_id: string;
  until: number;
  remaining: number;
}

export interface NotificationSettingsRow extends OwnerColumns {
  email_enabled: StoredBoolean;
  email_address: string | null;
  messenger_enabled: StoredBoolean;
  messenger_chat_id: string | null;
  messenger_username: string | null;
  enabled_events: string;
  updated_at: number;
}

export interface NoticeRow extends OwnerColumns, LeasableRow {
  channel: Channel;
  kind: NoticePayload['kind'];
  event_id: string | null;
  sealed_payload: string;
  attempts: number;
  status: 'pending' | 'sent' | 'failed';
  last_error: string | null;
  created_at: number;
}

declare module 'knex/types/tables.js' {
  /** Tables of events and their receivers. */
  interface Tables {
    events: EventRow;
    webhooks: WebhookRow;
    webhook_subscriptions: SubscriptionRow;
    deliveries: DeliveryRow;
    webhook_replays: ReplayRow;
    notification_settings: NotificationSettingsRow;
    messenger_links: OwnerColumns & { token_hash: Buffer; expires_at: number };
    messenger_state: { name: string; next_update: number };
    notices: NoticeRow;
    test_mails: { organization_id: string; at: number };
  }
}
