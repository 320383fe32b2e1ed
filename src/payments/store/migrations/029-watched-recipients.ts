import { addColumn, type Migration } from '#db/migrate.ts';

/**
 * Marks recipients that a watcher has in memory, so that it reads only new ones. A new leader reads all recipients, so
 * existing ones count as read. Processes of older versions leave the column null, so their recipients count as new.
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
