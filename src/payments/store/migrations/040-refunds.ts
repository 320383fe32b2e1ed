import { addColumn, type Migration, table } from '#db/migrate.ts';
import { setSums } from './amount-sums.ts';

/** Addresses that payers stated for refunds (Decision 351). */
export const REFUND_ADDRESSES_MIGRATION: Migration = {
  name: 'refund addresses',
  up: [
    table('refund_addresses', {
      session_id: ['text', 'primary key'],
      address: ['text', 'not null'],
      is_proved: ['boolean', 'not null'],
      proofs: ['count', 'not null'],
      previous_address: 'text',
      stated_at: ['time', 'not null'],
    }),
  ],
};

/** Refunds, which the wallets of merchants send (Decision 350). Sessions hold the sum of their completed ones. */
export const REFUNDS_MIGRATION: Migration = {
  name: 'refunds',
  up: [
    table('refunds', {
      id: ['text', 'primary key'],
      organization_id: ['text', 'not null'],
      mode: ['text', 'not null'],
      status: ['text', 'not null'],
      session_id: 'text',
      transaction_id: 'text',
      unmatched_transfer_id: 'text',
      chain_id: ['count', 'not null'],
      token_address: ['text', 'not null'],
      amount: ['uint256', 'not null'],
      recipient: ['text', 'not null'],
      destination: ['text', 'not null'],
      destination_source: ['text', 'not null'],
      tx_hash: 'text',
      log_index: 'count',
      block_number: 'count',
      block_hash: 'text',
      confirmations: ['count', 'not null'],
      required_confirmations: ['count', 'not null'],
      failure_reason: 'text',
      reason: 'text',
      created_by: ['text', 'not null'],
      completed_by: 'text',
      cancelled_by: 'text',
      cancelled_reason: 'text',
      // The last block that a watcher had read when the refund was created; null before the first look.
      after_block: 'count',
      searched_since: 'time',
      expires_at: ['time', 'not null'],
      created_at: ['time', 'not null'],
      updated_at: ['time', 'not null'],
      completed_at: 'time',
      cancelled_at: 'time',
    }),
    'create index refunds_of_owner on refunds (organization_id, mode, created_at, id)',
    'create index refunds_of_session on refunds (session_id) where session_id is not null',
    'create index refunds_of_transaction on refunds (transaction_id) where transaction_id is not null',
    'create index refunds_of_transfer on refunds (unmatched_transfer_id) where unmatched_transfer_id is not null',
    "create index refunds_open on refunds (chain_id, status) where status in ('requires_action', 'pending')",
    "create index refunds_due on refunds (expires_at) where status in ('requires_action', 'pending')",
    "create index refunds_completed on refunds (chain_id, block_number) where status = 'completed'",
    // One transfer completes one refund.
    `create unique index refunds_by_transfer on refunds (chain_id, tx_hash, log_index)
     where log_index is not null and status in ('pending', 'completed')`,
    // '010' is the column form of the amount 0.
    addColumn('checkout_sessions', 'amount_refunded', ['uint256', "not null default '010'"]),
  ],
};

/**
 * Links that were mailed to payers to state an address (Decision 363), and whether a statement was proved by one. Older
 * versions know no such proof.
 */
export const REFUND_LINKS_MIGRATION: Migration = {
  name: 'refund links',
  up: [
    addColumn('refund_addresses', 'is_by_email', ['boolean', 'not null default false']),
    table('refund_links', {
      token_hash: ['text', 'primary key'],
      session_id: ['text', 'not null references checkout_sessions (id) on delete cascade'],
      expires_at: ['time', 'not null'],
      used_at: 'time',
    }),
    'create index refund_links_of_session on refund_links (session_id, expires_at)',
    'create index refund_links_by_end on refund_links (expires_at)',
  ],
};

/** Sums of refunds that unmatched transfers and sessions keep, and records of decided transfers that the chain dropped. */
export const REFUND_SUMS_MIGRATION: Migration = {
  name: 'sums of refunds',
  up: [
    addColumn('checkout_sessions', 'amount_reserved', ['uint256', "not null default '010'"]),
    setSums('checkout_sessions', 'amount_reserved', {
      key: 'session_id',
      rows: "refunds t where t.session_id is not null and t.status <> 'cancelled'",
    }),
    addColumn('unmatched_transfers', 'amount_refunded', ['uint256', "not null default '010'"]),
    setSums('unmatched_transfers', 'amount_refunded', {
      key: 'unmatched_transfer_id',
      rows: "refunds t where t.unmatched_transfer_id is not null and t.status = 'completed'",
    }),
    table('dropped_transfers', {
      id: ['text', 'primary key'],
      chain_id: ['count', 'not null'],
      tx_hash: ['text', 'not null'],
      amount_refunded: ['uint256', 'not null'],
      record: ['text', 'not null'],
    }),
    'create index dropped_transfers_by_hash on dropped_transfers (chain_id, tx_hash)',
  ],
};

/** Two organizations may ask for the same transfer, so that neither keeps the refund of the other from completing. */
export const REFUND_TRANSFERS_MIGRATION: Migration = {
  name: 'transfers of refunds per organization',
  up: [
    'drop index refunds_by_transfer',
    `create unique index refunds_by_transfer on refunds (organization_id, mode, chain_id, tx_hash, log_index)
     where log_index is not null and status in ('pending', 'completed')`,
  ],
};
