import { addColumn, type Migration, table } from '#db/migrate.ts';
import { OWNER } from './002-payments.ts';

/**
 * Addresses of forwarders, one per session that asked for one. Sessions and links of older versions have none.
 * Processes of older versions neither issue nor watch any.
 */
export const DEPOSIT_ADDRESSES_MIGRATION: Migration = {
  name: 'deposit addresses',
  up: [
    table('deposit_seeds', {
      organization_id: ['text', 'primary key'],
      seed: ['text', 'not null'],
      created_at: ['time', 'not null'],
    }),
    // The latest one is in use.
    table('deposit_epochs', {
      epoch: ['text', 'primary key'],
      created_at: ['time', 'not null'],
      // Where the database was stored then; null where that is not known.
      storage: 'text',
    }),
    table(
      'deposit_numbers',
      {
        organization_id: ['text', 'not null'],
        epoch: ['text', 'not null'],
        next_number: ['count', 'not null'],
      },
      ['primary key (organization_id, epoch)'],
    ),
    // Rows are never deleted, and outlive their sessions.
    table('deposit_addresses', {
      address: ['text', 'primary key'],
      ...OWNER,
      chain_id: ['count', 'not null'],
      token_address: ['text', 'not null'],
      recipient_address: ['text', 'not null'],
      factory_version: ['count', 'not null'],
      epoch: ['text', 'not null'],
      number: ['count', 'not null'],
      salt: ['text', 'not null'],
      session_id: ['text', 'not null'],
      amount: ['uint256', 'not null'],
      client_reference_id: 'text',
      created_at: ['time', 'not null'],
    }),
    'create unique index deposit_addresses_by_number on deposit_addresses (organization_id, epoch, number)',
    `create index deposit_addresses_by_age on deposit_addresses
     (organization_id, mode, created_at, address, chain_id)`,
    addColumn('checkout_sessions', 'deposit_address', 'text'),
    `create unique index sessions_by_deposit_address on checkout_sessions (deposit_address)
     where deposit_address is not null`,
    addColumn('payment_links', 'payment_method', ['text', "not null default 'exact_amount'"]),
  ],
};
