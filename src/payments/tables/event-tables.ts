import type { StoredBoolean } from '#db/columns.ts';
import type { LeasableRow } from '#db/lease.ts';
import type { EventType } from '../model/event.ts';
import type { Channel, NotificationSettings } from '../model/notification.ts';
import type { Delivery, Webhook } from '../model/webhook.ts';
import type { OwnerColumns } from './organization-tables.ts';
import type { RowOfRecord } from './record-form.ts';

export interface EventRow extends OwnerColumns, LeasableRow {
  type: EventType;
  fact: string;
  sealed_data: string;
  created_at: number;
  place: number;
}

export type WebhookRow = RowOfRecord<Webhook> & {
  sealed_secret: string;
  sealed_previous_secret: string | null;
  deleted_at: number | null;
};

interface SubscriptionRow {
  webhook_id: string;
  events: string;
  since: number;
  until: number | null;
}

export type DeliveryRow = RowOfRecord<Delivery> & LeasableRow & { sealed_body: string };

export interface DeliveryAttemptRow {
  id: string;
  delivery_id: string;
  number: number;
  ended_at: number;
  response_code: number | null;
  response_time_ms: number | null;
  error: string | null;
  sealed_response: string | null;
}

export interface ReplayRow extends OwnerColumns, LeasableRow {
  webhook_id: string;
  after_time: number;
  after_place: number;
  after_id: string;
  until: number;
  remaining: number;
}

type NotificationSettingsRow = RowOfRecord<NotificationSettings>;

export interface NoticeRow extends OwnerColumns, LeasableRow {
  channel: Channel;
  kind: 'payment' | 'webhook_disabled';
  event_id: string | null;
  sealed_payload: string;
  /** True for a notice that collects events. */
  is_digest: StoredBoolean;
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
    delivery_attempts: DeliveryAttemptRow;
    webhook_replays: ReplayRow;
    notification_settings: NotificationSettingsRow;
    messenger_links: OwnerColumns & { token_hash: Buffer; expires_at: number };
    messenger_state: { name: string; next_update: number };
    notices: NoticeRow;
    test_mails: { organization_id: string; at: number };
  }
}
