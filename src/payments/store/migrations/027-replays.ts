import { LEASE_COLUMNS } from '#db/lease.ts';
import { type Migration, table } from '#db/migrate.ts';
import { OWNER } from './owner-columns.ts';

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
