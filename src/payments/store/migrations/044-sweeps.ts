import { addColumn, type Migration, table } from '#db/migrate.ts';
import { OWNER } from './002-payments.ts';

/**
 * Sweeps of deposit addresses, and how far the chain was read for them. `balance_block` of a transaction is the block whose
 * balance showed coins of an unknown transaction; older versions leave it null, as they find none. An address is watched
 * in each block until an hour after its session's end, and is looked at from time to time after that.
 */
export const SWEEPS_MIGRATION: Migration = {
  name: 'sweeps',
  up: [
    table(
      'sweeps',
      {
        chain_id: ['count', 'not null'],
        tx_hash: ['text', 'not null'],
        log_index: ['count', 'not null'],
        block_number: ['count', 'not null'],
        block_hash: ['text', 'not null'],
        block_time: ['time', 'not null'],
        address: ['text', 'not null'],
        // The zero address for coins.
        token_address: ['text', 'not null'],
        amount: ['uint256', 'not null'],
      },
      ['primary key (chain_id, tx_hash, log_index)'],
    ),
    'create index sweeps_by_address on sweeps (address, chain_id, block_number)',
    addColumn('chain_cursors', 'swept_block', 'count'),
    // Time of the block up to which the balances of all open addresses are known; null while none are needed.
    addColumn('chain_cursors', 'balances_time', 'time'),
    addColumn('transactions', 'balance_block', 'count'),
    'create index transactions_by_recipient on transactions (recipient, chain_id, token_address)',
    addColumn('deposit_addresses', 'ended_at', 'time'),
    addColumn('deposit_addresses', 'next_look_at', 'time'),
    // Block up to which it was read since it is not watched in each block.
    addColumn('deposit_addresses', 'looked_block', 'count'),
    `create index deposit_addresses_to_look_at on deposit_addresses (chain_id, next_look_at)
     where next_look_at is not null`,
    'create index deposit_addresses_by_chain on deposit_addresses (chain_id, created_at)',
    'create index deposit_addresses_open on deposit_addresses (chain_id, session_id) where ended_at is null',
  ],
};

/** Sums that an address keeps, so that lists and limits need not add up its payments. */
export const DEPOSIT_SUMS_MIGRATION: Migration = {
  name: 'sums of deposit addresses',
  up: [
    addColumn('deposit_addresses', 'amount_received', ['uint256', "not null default '010'"]),
    addColumn('deposit_addresses', 'amount_swept', ['uint256', "not null default '010'"]),
    `create index deposit_addresses_unswept on deposit_addresses
     (organization_id, mode, chain_id, token_address, created_at, address, amount_received, amount_swept)
     where amount_received > amount_swept`,
  ],
};

/** Tokens of organizations of which a notice said that half of the limit is not swept. Older versions send none. */
export const UNSWEPT_NOTICES_MIGRATION: Migration = {
  name: 'notices about unswept money',
  up: [
    table(
      'unswept_notices',
      {
        ...OWNER,
        chain_id: ['count', 'not null'],
        token_address: ['text', 'not null'],
        noticed_at: ['time', 'not null'],
      },
      ['primary key (organization_id, mode, chain_id, token_address)'],
    ),
  ],
};
