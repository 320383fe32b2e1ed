import { LEASE_COLUMNS } from '#db/lease.ts';
import { addColumn, type Migration, table } from '#db/migrate.ts';
import { OWNER } from './002-payments.ts';

/** Schema steps for webhooks and notifications, after those of payments. */
export const WEBHOOK_MIGRATIONS: readonly Migration[] = [
  {
    name: 'outbox',
    up: [
      // Null for existing events: no webhook gets events from before webhooks existed.
      ...Object.entries(LEASE_COLUMNS).map(([column, type]) => addColumn('events', column, type)),
      'create index events_due on events (next_attempt_at) where next_attempt_at is not null',
    ],
  },
  {
    name: 'webhooks',
    up: [
      table('webhooks', {
        id: ['text', 'primary key'],
        ...OWNER,
        url: ['text', 'not null'],
        events: ['json', 'not null'],
        description: 'text',
        sealed_secret: ['text', 'not null'],
        sealed_previous_secret: 'text',
        previous_secret_until: 'time',
        is_active: ['boolean', 'not null'],
        disabled_reason: 'text',
        disabled_at: 'time',
        failures_in_a_row: ['count', 'not null'],
        success_count: ['count', 'not null'],
        failure_count: ['count', 'not null'],
        last_triggered_at: 'time',
        created_at: ['time', 'not null'],
        updated_at: ['time', 'not null'],
      }),
      'create index webhooks_by_age on webhooks (organization_id, mode, created_at, id)',
      // Subscriptions of a webhook over time, none while it was not active. Events are relayed some time after they
      // occur.
      table(
        'webhook_subscriptions',
        {
          webhook_id: ['text', 'not null references webhooks (id) on delete cascade'],
          events: ['json', 'not null'],
          since: ['time', 'not null'],
          // End, exclusive.
          until: 'time',
        },
        [],
      ),
      'create index webhook_subscriptions_of on webhook_subscriptions (webhook_id, since)',
      table('deliveries', {
        id: ['text', 'primary key'],
        ...OWNER,
        webhook_id: ['text', 'not null references webhooks (id) on delete cascade'],
        event_id: ['text', 'not null'],
        event_type: ['text', 'not null'],
        sealed_body: ['text', 'not null'],
        is_test: ['boolean', 'not null'],
        status: ['text', "not null check (status in ('pending', 'success', 'failed'))"],
        response_code: 'count',
        response_time_ms: 'count',
        attempts: ['count', 'not null'],
        automatic_failures: ['count', 'not null'],
        has_failed: ['boolean', 'not null'],
        sending: ['text', "check (sending in ('automatic', 'manual'))"],
        last_error: 'text',
        created_at: ['time', 'not null'],
        ended_at: 'time',
        // During an automatic attempt, `next_attempt_at` is the end of its lease.
        ...LEASE_COLUMNS,
      }),
      'create unique index deliveries_by_event on deliveries (event_id, webhook_id) where not is_test',
      'create index deliveries_due on deliveries (webhook_id, next_attempt_at) where next_attempt_at is not null',
      "create index deliveries_by_hand on deliveries (locked_until) where sending = 'manual'",
      // Covers the filters of the list.
      'create index deliveries_by_webhook on deliveries (webhook_id, created_at, id, status, event_type)',
      'create index deliveries_by_age on deliveries (created_at)',
    ],
  },
  {
    name: 'notifications',
    up: [
      table(
        'notification_settings',
        {
          ...OWNER,
          email_enabled: ['boolean', 'not null'],
          email_address: 'text',
          messenger_enabled: ['boolean', 'not null'],
          messenger_chat_id: 'text',
          messenger_username: 'text',
          enabled_events: ['json', 'not null'],
          updated_at: ['time', 'not null'],
        },
        ['primary key (organization_id, mode)'],
      ),
      `create index notification_settings_by_chat on notification_settings (messenger_chat_id)
       where messenger_chat_id is not null`,
      table(
        'messenger_links',
        { ...OWNER, token_hash: ['bytes', 'not null unique'], expires_at: ['time', 'not null'] },
        ['primary key (organization_id, mode)'],
      ),
      table('messenger_state', {
        name: ['text', "primary key check (name = 'polling')"],
        next_update: ['count', 'not null'],
      }),
      table('notices', {
        id: ['text', 'primary key'],
        ...OWNER,
        channel: ['text', "not null check (channel in ('email', 'messenger'))"],
        kind: ['text', "not null check (kind in ('payment', 'webhook_disabled'))"],
        event_id: 'text',
        sealed_payload: ['text', 'not null'],
        attempts: ['count', 'not null'],
        status: ['text', "not null check (status in ('pending', 'sent', 'failed'))"],
        last_error: 'text',
        created_at: ['time', 'not null'],
        ...LEASE_COLUMNS,
      }),
      'create unique index notices_by_event on notices (event_id, channel) where event_id is not null',
      'create index notices_due on notices (channel, next_attempt_at) where next_attempt_at is not null',
      'create index notices_by_age on notices (created_at)',
      table('test_mails', {
        organization_id: ['text', 'not null references organizations (id)'],
        at: ['time', 'not null'],
      }),
      'create index test_mails_of on test_mails (organization_id, at)',
    ],
  },
];

/** Running replays. A replay sends missed events (Decision 224). */
export const REPLAYS_MIGRATION: Migration = {
  name: 'webhook replays',
  up: [
    table('webhook_replays', {
      id: ['text', 'primary key'],
      ...OWNER,
      // One replay at a time per webhook.
      webhook_id: ['text', 'not null unique references webhooks (id) on delete cascade'],
      // The last event that was read. The replay continues after it.
      after_time: ['time', 'not null'],
      after_place: ['count', 'not null'],
      after_id: ['text', 'not null'],
      // End of the replayed period, exclusive.
      until: ['time', 'not null'],
      remaining: ['count', 'not null'],
      ...LEASE_COLUMNS,
    }),
    'create index webhook_replays_due on webhook_replays (next_attempt_at) where next_attempt_at is not null',
  ],
};

/** A deleted webhook is marked, and removed with its deliveries in the background (Decision 324). */
export const DELETED_WEBHOOKS_MIGRATION: Migration = {
  name: 'deleted webhooks',
  up: [
    addColumn('webhooks', 'deleted_at', 'time'),
    'create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null',
  ],
};

/** Rows with a lease, to find one that is further ahead than its own length (Decision 313). */
export const LEASES_MIGRATION: Migration = {
  name: 'leases of deliveries and notices',
  up: ['deliveries', 'notices'].map(
    table => `create index ${table}_leased on ${table} (locked_until) where locked_until is not null`,
  ),
};

/** Notices about money that needs a decision, which collect events. Where a channel is on, it now tells of them, too. */
export const ATTENTION_MIGRATION: Migration = {
  name: 'notices of money that needs a decision',
  up: [
    addColumn('notification_settings', 'attention', ['boolean', 'not null default true']),
    addColumn('notices', 'is_digest', ['boolean', 'not null default false']),
    'create index notices_digests on notices (organization_id, mode, channel, created_at) where is_digest',
  ],
};

/** Mails to payers, which the merchant switches on. */
export const CUSTOMER_MAILS_MIGRATION: Migration = {
  name: 'mails to payers',
  up: [addColumn('notification_settings', 'customer_emails', ['boolean', 'not null default false'])],
};

/** Start of the consecutive failures of a webhook. Older versions neither write nor read it. */
export const FAILING_WEBHOOKS_MIGRATION: Migration = {
  name: 'failing webhooks',
  up: [addColumn('webhooks', 'failing_since', 'time')],
};

/** Ended attempts of deliveries, and the setting that keeps answers of receivers. Older versions record no attempts. */
export const DELIVERY_ATTEMPTS_MIGRATION: Migration = {
  name: 'attempts of deliveries',
  up: [
    addColumn('webhooks', 'store_responses', ['boolean', 'not null default false']),
    table('delivery_attempts', {
      // As in `X-Service-Delivery-Id`.
      id: ['text', 'primary key'],
      delivery_id: ['text', 'not null references deliveries (id) on delete cascade'],
      number: ['count', 'not null'],
      ended_at: ['time', 'not null'],
      response_code: 'count',
      response_time_ms: 'count',
      error: 'text',
      sealed_response: 'text',
    }),
    'create index delivery_attempts_of on delivery_attempts (delivery_id, number)',
  ],
};
