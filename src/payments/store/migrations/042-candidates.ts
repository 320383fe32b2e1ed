import { type Migration, table } from '#db/migrate.ts';

/**
 * Sessions whose payers see an unmatched transfer. Transfers that were listed before have none. Processes of
 * older versions write none.
 */
export const CANDIDATES_MIGRATION: Migration = {
  name: 'candidates of sessions',
  up: [
    table(
      'transfer_candidates',
      {
        transfer_id: ['text', 'not null references unmatched_transfers (id) on delete cascade'],
        session_id: ['text', 'not null'],
        // 0 for a transfer that the payer named, else from 1 on by its fit.
        match_rank: ['count', 'not null'],
        is_only: ['boolean', 'not null'],
      },
      ['primary key (transfer_id, session_id)'],
    ),
    'create index transfer_candidates_of_session on transfer_candidates (session_id)',
    // For a wallet that signs for what it sent before, and for a sender that a payer names.
    `create index transfers_by_sender on unmatched_transfers (chain_id, token_address, recipient, sender)
     where assigned_at is null`,
  ],
};

/** Transaction hashes that payers reported and no record has (Decision 362). Older versions look up none. */
export const REPORTED_HASHES_MIGRATION: Migration = {
  name: 'reported hashes',
  up: [
    table(
      'reported_hashes',
      {
        session_id: ['text', 'not null references checkout_sessions (id) on delete cascade'],
        chain_id: ['count', 'not null'],
        tx_hash: ['text', 'not null'],
        status: ['text', 'not null'],
        // Time of the last request to look it up.
        asked_at: ['time', 'not null'],
      },
      ['primary key (session_id, tx_hash)'],
    ),
    'create index reported_hashes_by_hash on reported_hashes (chain_id, tx_hash, asked_at)',
    "create index reported_hashes_open on reported_hashes (chain_id, asked_at) where status = 'searching'",
  ],
};
