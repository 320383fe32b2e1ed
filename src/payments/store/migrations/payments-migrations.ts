import { LEADER_MIGRATION } from '#db/leader.ts';
import type { Migration, Schema } from '#db/migrate.ts';
import { PAYMENT_MIGRATIONS, SECRET_KEYS_MIGRATION } from './002-payments.ts';
import {
  DELETED_WEBHOOKS_MIGRATION,
  LEASES_MIGRATION,
  REPLAYS_MIGRATION,
  WEBHOOK_MIGRATIONS,
} from './010-webhooks.ts';
import {
  DASHBOARD_SESSIONS_MIGRATION,
  ORGANIZATION_PROFILE_MIGRATION,
  ORGANIZATION_SETTINGS_MIGRATION,
  RECIPIENTS_MIGRATION,
} from './013-organizations.ts';
import { AMOUNT_MIGRATIONS, EXACT_PRICE_MIGRATION, SIGNED_WALLETS_MIGRATION } from './014-amounts.ts';
import { RETENTION_MIGRATIONS, SETTLED_BLOCK_MIGRATION } from './019-retention.ts';
import { STATS_MIGRATION } from './026-stats.ts';
import { WATCHING_MIGRATIONS } from './029-watching.ts';
import { ENDED_REASONS_MIGRATION } from './038-ended-sessions.ts';
import { REFUNDS_MIGRATION } from './040-refunds.ts';
import { MERCHANT_DECISION_MIGRATIONS } from './041-merchant-decisions.ts';

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
  SIGNED_WALLETS_MIGRATION,
  ENDED_REASONS_MIGRATION,
  REFUNDS_MIGRATION,
  ...MERCHANT_DECISION_MIGRATIONS,
];

/** The schema with its name in messages and settings. */
export const PAYMENTS_SCHEMA: Schema = {
  title: 'payments database',
  migrations: PAYMENTS_MIGRATIONS,
  setting: 'payments.database',
};
