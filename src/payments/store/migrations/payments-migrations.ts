import { LEADER_MIGRATION } from '#db/leader.ts';
import type { Migration, Schema } from '#db/migrate.ts';
import { PAYMENT_MIGRATIONS } from './002-payments.ts';
import { WEBHOOK_MIGRATIONS } from './010-webhooks.ts';
import { ORGANIZATION_SETTINGS_MIGRATION } from './013-organization-settings.ts';
import { AMOUNT_MIGRATIONS } from './014-amounts.ts';
import { SECRET_KEYS_MIGRATION } from './018-secret-keys.ts';
import { RETENTION_MIGRATIONS, SETTLED_BLOCK_MIGRATION } from './019-retention.ts';
import { RECIPIENTS_MIGRATION } from './023-recipients.ts';
import { EXACT_PRICE_MIGRATION } from './024-round-prices.ts';
import { ORGANIZATION_PROFILE_MIGRATION } from './025-organization-profile.ts';
import { STATS_MIGRATION } from './026-stats.ts';
import { REPLAYS_MIGRATION } from './027-replays.ts';
import { DASHBOARD_SESSIONS_MIGRATION } from './028-dashboard-sessions.ts';
import { WATCHING_MIGRATIONS } from './029-watching.ts';
import { DELETED_WEBHOOKS_MIGRATION } from './030-deleted-webhooks.ts';
import { LEASES_MIGRATION } from './031-leases.ts';

/** Schema steps of the payments platform. Append only. */
export const PAYMENTS_MIGRATIONS: readonly Migration[] = [
  LEADER_MIGRATION,
  ...PAYMENT_MIGRATIONS,
  ...WEBHOOK_MIGRATIONS,
  ORGANIZATION_SETTINGS_MIGRATION,
  ...AMOUNT_MIGRATIONS,
  SECRET_KEYS_MIGRATION,
  ...RETENTION_MIGRATIONS,
  SETTLED_BLOCK_MIGRATION,
  RECIPIENTS_MIGRATION,
  EXACT_PRICE_MIGRATION,
  ORGANIZATION_PROFILE_MIGRATION,
  STATS_MIGRATION,
  REPLAYS_MIGRATION,
  DASHBOARD_SESSIONS_MIGRATION,
  ...WATCHING_MIGRATIONS,
  DELETED_WEBHOOKS_MIGRATION,
  LEASES_MIGRATION,
];

/** The schema with its name in messages and settings. */
export const PAYMENTS_SCHEMA: Schema = {
  title: 'payments database',
  migrations: PAYMENTS_MIGRATIONS,
  setting: 'payments.database',
};
