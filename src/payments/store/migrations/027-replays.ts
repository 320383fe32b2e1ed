import { LEASE_COLUMNS } from '#db/lease.ts';
import { type Migration, table } from '#db/migrate.ts';
import { OWNER } from './owner-columns.ts';

/** Replays of missed events that are under way. Decision 224. */
export const REPLAYS_MIGRATION: Migration = {
  name: 'webhook replays',
  up: [
    table('webhook_replays', {
      id: ['text', 'primary key'],
      ...OWNER,
      // One at a time of each webhook.
      webhook_id: ['text', 'not null unique references webhooks (id) on delete cascade'],
      // The last event that was looked at; the next one follows it.
      after_time: ['time', 'not null'],
      after_place: ['count', 'not null'],
      after_id: ['text', 'not null'],
      // Events of this time or later are none of it.
      until: ['time', 'not null'],
      remaining: ['count', 'not null'],
      ...LEASE_COLUMNS,
    }),
    'create index webhook_replays_due on webhook_replays (next_attempt_at) where next_attempt_at is not null',
  ],
};
