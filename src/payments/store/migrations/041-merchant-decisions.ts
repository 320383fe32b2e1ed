import { addColumn, type Migration, table } from '#db/migrate.ts';
import { setSums } from './amount-sums.ts';

/** The completed payments of sessions that have some of another wallet than their payer's. */
const OF_OTHERS = `transactions t where t.status = 'completed' and exists (
    select 1 from transactions o join checkout_sessions s on s.id = o.session_id
    where o.session_id = t.session_id and o.status = 'completed' and o.sender <> s.payer_address
  )`;

/**
 * Acceptance of sessions. The amount received counts the payments of every sender from now on; sums beyond 30 digits
 * stay as they were.
 */
const ACCEPTANCE_MIGRATION: Migration = {
  name: 'acceptance of sessions',
  up: [
    addColumn('checkout_sessions', 'accepted_at', 'time'),
    addColumn('checkout_sessions', 'accepted_by', 'text'),
    addColumn('checkout_sessions', 'accepted_reason', 'text'),
    addColumn('checkout_sessions', 'accepted_amount', 'uint256'),
    setSums('checkout_sessions', 'amount_received', { key: 'session_id', rows: OF_OTHERS }),
  ],
};

/** Author, time and reason of an assignment, move, dismissal or restoration. Assignments of older versions have a time only. */
const DECISIONS_MIGRATION: Migration = {
  name: 'decisions about payments',
  up: [
    ...decisionColumns('transactions', 'assigned', true),
    addColumn('transactions', 'moved_from', 'text'),
    'create index transactions_moved on transactions (moved_from) where moved_from is not null',
    `update transactions set assigned_at = (
       select min(t.assigned_at) from unmatched_transfers t where t.transaction_id = transactions.id
     ) where matched_by = 'assignment'`,
    ...decisionColumns('unmatched_transfers', 'assigned', false),
    ...decisionColumns('unmatched_transfers', 'dismissed', true),
    ...decisionColumns('unmatched_transfers', 'restored', true),
  ],
};

/** All moves of payments. Of payments that older versions moved, the last one is known. */
export const PAYMENT_MOVES_MIGRATION: Migration = {
  name: 'moves of payments',
  up: [
    table(
      'payment_moves',
      {
        transaction_id: ['text', 'not null references transactions (id) on delete cascade'],
        // The session that the payment left, and the time at which it had been moved there; 0 for the first one.
        session_id: ['text', 'not null'],
        since: ['time', 'not null'],
        moved_at: ['time', 'not null'],
        moved_by: ['text', 'not null'],
        moved_reason: 'text',
      },
      ['primary key (transaction_id, moved_at, session_id)'],
    ),
    'create index payment_moves_of_session on payment_moves (session_id)',
    `insert into payment_moves (transaction_id, session_id, since, moved_at, moved_by, moved_reason)
     select id, moved_from, 0, assigned_at, assigned_by, assigned_reason from transactions where moved_from is not null`,
    'drop index transactions_moved',
  ],
};

/** Proofs of payments by their blocks (Decision 385). Payments of older versions have none. */
export const PROVEN_PAYMENTS_MIGRATION: Migration = {
  name: 'proven payments',
  up: [addColumn('transactions', 'proven', 'boolean')],
};

/** For the proofs of payments that were completed without one. Processes of older versions make none. */
export const LATER_PROOFS_MIGRATION: Migration = {
  name: 'later proofs',
  up: [
    `create index transactions_unproven on transactions (chain_id, completed_at)
     where status = 'completed' and proven is null`,
  ],
};

function decisionColumns(table: string, kind: string, hasTime: boolean): Migration['up'] {
  return [
    ...(hasTime ? [addColumn(table, `${kind}_at`, 'time')] : []),
    addColumn(table, `${kind}_by`, 'text'),
    addColumn(table, `${kind}_reason`, 'text'),
  ];
}

/** Decisions of merchants about payments. */
export const MERCHANT_DECISION_MIGRATIONS: readonly Migration[] = [ACCEPTANCE_MIGRATION, DECISIONS_MIGRATION];
