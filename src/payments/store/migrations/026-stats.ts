import { type Migration, table } from '#db/migrate.ts';
import { DAY_MS } from '#lib/clock.ts';
import { OWNER } from './002-payments.ts';

/**
 * Figures by day. The indexes have the order of the groups and all counted columns, so a year of one organization is
 * added up without sorting and without reading its rows.
 */
export const STATS_MIGRATION: Migration = {
  name: 'stats',
  up: [
    `create index sessions_by_day on checkout_sessions
     (organization_id, mode, (created_at / ${DAY_MS}), chain_id, token_address, status, created_at)`,
    `create index transactions_by_day on transactions
     (organization_id, mode, (created_at / ${DAY_MS}), chain_id, token_address, status, created_at, amount)`,
    'drop index transactions_of_link',
    `create index transactions_of_link on transactions
     (payment_link_id, (created_at / ${DAY_MS}), chain_id, token_address, status, created_at, amount)`,
    // Numbers of unpaid sessions that retention removed. `payment_link_id` is empty for sessions without a link.
    table(
      'removed_sessions',
      {
        ...OWNER,
        day: ['count', 'not null'],
        chain_id: ['count', 'not null'],
        token_address: ['text', 'not null'],
        payment_link_id: ['text', 'not null'],
        sessions: ['count', 'not null'],
      },
      ['primary key (organization_id, mode, day, chain_id, token_address, payment_link_id)'],
    ),
    'create index removed_sessions_of_link on removed_sessions (payment_link_id, day)',
  ],
};
