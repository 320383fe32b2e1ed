import { type Migration, table } from '#db/migrate.ts';

/**
 * Transactions whose receipt no node could return. Their payments and unmatched transfers stay unconfirmed, and the
 * receipt is asked for again later. Processes of older versions do not know the table and ask at every look.
 */
export const SET_ASIDE_MIGRATION: Migration = {
  name: 'transactions set aside',
  up: [
    table(
      'set_aside_transactions',
      {
        id: ['text', 'primary key'],
        chain_id: ['count', 'not null'],
        tx_hash: ['text', 'not null'],
        reason: ['text', 'not null'],
        attempts: ['count', 'not null'],
        set_aside_at: ['time', 'not null'],
        attempted_at: ['time', 'not null'],
        next_attempt_at: ['time', 'not null'],
      },
      ['unique (chain_id, tx_hash)'],
    ),
  ],
};
