import { addColumn, type Migration } from '#db/migrate.ts';

/** Schema steps for exact amounts and for client limits, after those of webhooks. */
export const AMOUNT_MIGRATIONS: readonly Migration[] = [
  {
    name: 'prices',
    up: [
      // For the check that an exact amount is no price (Decision 132), without reading other prices.
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
      // Keyed hash of link and client address; null for a merchant's session. Clients are limited per link (Decision
      // 134).
      addColumn('checkout_sessions', 'client_hash', 'text'),
      `create index sessions_of_client on checkout_sessions (client_hash, expires_at)
       where status = 'active' and payer_address is null and client_hash is not null`,
    ],
  },
  {
    name: 'prices that are not round',
    up: [
      // An exact amount is never round, so the index leaves out round prices. Otherwise, on PostgreSQL, sessions with
      // the same round price would conflict here when they are opened at the same time.
      'drop index sessions_by_price',
      `create index sessions_by_price on checkout_sessions (chain_id, token_address, recipient_address, amount)
       where status = 'active' and length(rtrim(amount, '0')) >= length(amount)`,
    ],
  },
];

/**
 * Marks round prices by token, because the number of zeros of a round price depends on the token's decimals. An exact
 * amount is never a price (Decision 132). Existing sessions count as not round, so their prices are always avoided.
 */
export const EXACT_PRICE_MIGRATION: Migration = {
  name: 'round prices by token',
  up: [
    addColumn('checkout_sessions', 'is_price_round', ['boolean', 'not null default false']),
    'drop index sessions_by_price',
    // Round prices are left out: on PostgreSQL, sessions with the same price would conflict here when they are opened
    // at the same time.
    `create index sessions_by_price on checkout_sessions (chain_id, token_address, recipient_address, amount)
     where status = 'active' and not is_price_round`,
  ],
};

/**
 * Money beyond what a session asks for. Of several payments that were too much in an older session, the largest one
 * counts. Processes of older versions leave the column as it is.
 */
export const OVERPAID_AMOUNTS_MIGRATION: Migration = {
  name: 'overpaid amounts',
  up: [
    addColumn('checkout_sessions', 'amount_overpaid', ['uint256', "not null default '010'"]),
    `update checkout_sessions set amount_overpaid = (
       select max(case when t.is_duplicate then t.amount else t.overpaid_amount end) from transactions t
       where t.session_id = checkout_sessions.id and t.status = 'completed'
     ) where exists (
       select 1 from transactions t
       where t.session_id = checkout_sessions.id and t.status = 'completed'
         and (t.is_duplicate or t.overpaid_amount is not null)
     )`,
  ],
};

/** Tolerance of payers who are certain, in hundredths of a percent. Sessions of older versions have none. */
export const TOLERANCE_MIGRATION: Migration = {
  name: 'payment tolerance',
  up: [
    addColumn('organization_settings', 'tolerance_bps', ['count', 'not null default 0']),
    addColumn('payment_links', 'tolerance_bps', 'count'),
    addColumn('checkout_sessions', 'tolerance_bps', ['count', 'not null default 0']),
  ],
};

/** Wallets that signed for a session, next to the wallet that paid it. Only the former pay it by any amount. */
export const SIGNED_WALLETS_MIGRATION: Migration = {
  name: 'signed wallets',
  up: [
    addColumn('checkout_sessions', 'signed_address', 'text'),
    // A wallet that is known from a payment by exact amount did not sign. Sessions that ended earlier take no payment.
    `update checkout_sessions set signed_address = payer_address
     where payer_address is not null
       and (ended_at is null or ended_at >= (select max(updated_at) from checkout_sessions) - 172800000)
       and not exists (
       select 1 from transactions t
       where t.session_id = checkout_sessions.id and t.sender = checkout_sessions.payer_address
         and t.matched_by <> 'wallet'
     )`,
    'drop index sessions_by_payer',
    `create index sessions_by_signer on checkout_sessions
       (chain_id, token_address, recipient_address, signed_address, ended_at)
     where signed_address is not null`,
    'drop index sessions_of_client',
    `create index sessions_of_client on checkout_sessions (client_hash, expires_at)
     where status = 'active' and signed_address is null and client_hash is not null`,
    // For an exact amount that is paid twice.
    `create index sessions_by_amount_and_completion on checkout_sessions
       (chain_id, token_address, recipient_address, amount_due, ended_at)
     where status = 'completed' and not is_wallet_only`,
  ],
};
