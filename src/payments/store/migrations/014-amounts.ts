import { addColumn, type Migration } from '#db/migrate.ts';

/** The schema of exact amounts and of what payers are told apart by, behind that of webhooks. */
export const AMOUNT_MIGRATIONS: readonly Migration[] = [
  {
    name: 'prices',
    up: [
      // These find whether an amount is a price of a place, without reading its other prices. Decision 132.
      `create index sessions_by_price on checkout_sessions (chain_id, token_address, recipient_address, amount)
       where status = 'active'`,
      ...['amount', 'min_amount', 'max_amount', 'suggested_amount'].map(
        column => `create index payment_links_by_${column} on payment_links
         (chain_id, token_address, recipient_address, ${column}) where is_active and ${column} is not null`,
      ),
    ],
  },
  {
    name: 'suggested sessions',
    up: [addColumn('unmatched_transfers', 'suggested_session_id', 'text')],
  },
  {
    name: 'open checkouts of a client',
    up: [
      // A keyed hash of link and client address; null for a session that a merchant opened. Decision 134.
      addColumn('checkout_sessions', 'client_hash', 'text'),
      `create index sessions_of_client on checkout_sessions (client_hash, expires_at)
       where status = 'active' and payer_address is null and client_hash is not null`,
    ],
  },
  {
    name: 'prices that are not round',
    up: [
      // No round amount is asked for, so round prices need not be found, and sessions of one round price do not meet
      // in this index: on PostgreSQL each would conflict with every other one that is opened at the same time.
      'drop index sessions_by_price',
      `create index sessions_by_price on checkout_sessions (chain_id, token_address, recipient_address, amount)
       where status = 'active' and length(rtrim(amount, '0')) >= length(amount)`,
    ],
  },
];
