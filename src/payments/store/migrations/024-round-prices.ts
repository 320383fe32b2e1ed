import { addColumn, type Migration } from '#db/migrate.ts';

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
