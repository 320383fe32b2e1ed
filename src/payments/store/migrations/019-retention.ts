import { addColumn, type Migration } from '#db/migrate.ts';

/** Schema steps for rolled keys, the removal of old rows, and the metrics of queues and sessions. */
export const RETENTION_MIGRATIONS: readonly Migration[] = [
  {
    name: 'rolled keys',
    // Null when the key was never rolled, or rolled before this step.
    up: [addColumn('api_keys', 'rolled_at', 'time')],
  },
  {
    name: 'retention',
    up: [
      'create index events_by_time on events (created_at)',
      // '010' is the column form of the amount 0.
      `create index sessions_unpaid on checkout_sessions (ended_at)
       where status = 'expired' and amount_received = '010'`,
      addColumn('watched_recipients', 'last_session_at', 'time'),
      // An upper bound: no recipient has a newer session than the newest of all, which one scan finds.
      `update watched_recipients
       set last_session_at = coalesce((select max(created_at) from checkout_sessions), 0)`,
      'create index watched_recipients_by_last_session on watched_recipients (last_session_at)',
      `create index sessions_open on checkout_sessions (payment_status, chain_id, token_address, recipient_address)
       where status = 'active'`,
    ],
  },
  {
    name: 'indexes of metrics',
    up: [
      `create index transfers_open on unmatched_transfers (confirmed_at)
       where confirmed_at is not null and assigned_at is null`,
      'create index webhooks_disabled on webhooks (disabled_at) where disabled_at is not null',
    ],
  },
];

/** Head of the last successful check of settled records against the chain, from which the next watcher continues. */
export const SETTLED_BLOCK_MIGRATION: Migration = {
  name: 'settled blocks',
  up: [
    addColumn('chain_cursors', 'settled_block', 'count'),
    'update chain_cursors set settled_block = block_number',
  ],
};
