import { addColumn, type Migration } from '#db/migrate.ts';

/**
 * Prices that exact amounts have to avoid, also of tokens with more than eight decimals: how many zeros make a price
 * round depends on the token. Sessions of before count as not round, which is never wrong. Decision 132.
 */
export const EXACT_PRICE_MIGRATION: Migration = {
  name: 'round prices by token',
  up: [
    addColumn('checkout_sessions', 'is_price_round', ['boolean', 'not null default false']),
    'drop index sessions_by_price',
    // Sessions of one round price do not meet in this index: on PostgreSQL each would conflict with every other one that
    // is opened at the same time.
    `create index sessions_by_price on checkout_sessions (chain_id, token_address, recipient_address, amount)
     where status = 'active' and not is_price_round`,
  ],
};
