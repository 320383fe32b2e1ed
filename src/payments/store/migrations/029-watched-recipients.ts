import { addColumn, type Migration } from '#db/migrate.ts';

/**
 * Tells a watcher that remembers its recipients which ones are new. A watcher that begins to lead reads all of them, so
 * those of before count as read. Processes of before leave the column empty, which is new.
 */
export const READ_RECIPIENTS_MIGRATION: Migration = {
  name: 'read recipients',
  up: [
    addColumn('watched_recipients', 'read_at', 'time'),
    'update watched_recipients set read_at = 0',
    `create index watched_recipients_unread on watched_recipients (chain_id, token_address, recipient_address)
     where read_at is null`,
  ],
};
