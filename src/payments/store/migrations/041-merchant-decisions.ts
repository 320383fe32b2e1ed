import { addColumn, type Migration } from '#db/migrate.ts';

/** Digits of an amount, and its last 15 and the other ones as integers. Twice as many fit no integer of the database. */
const DIGITS = 'substr(t.amount, 3)';
const LOW_DIGITS = 15;
const LOW = `cast(substr(${DIGITS}, case when length(${DIGITS}) > ${LOW_DIGITS} then length(${DIGITS}) - 14 else 1 end) as bigint)`;
const HIGH = `case when length(${DIGITS}) > ${LOW_DIGITS}
  then cast(substr(${DIGITS}, 1, length(${DIGITS}) - ${LOW_DIGITS}) as bigint) else 0 end`;
const UNIT = `1${'0'.repeat(LOW_DIGITS)}`;

/** The completed payments of sessions that have some of another wallet than their payer's. */
const OF_OTHERS = `select session_id, cast(sum(${HIGH}) as bigint) as high, cast(sum(${LOW}) as bigint) as low
  from transactions t where t.status = 'completed' and exists (
    select 1 from transactions o join checkout_sessions s on s.id = o.session_id
    where o.session_id = t.session_id and o.status = 'completed' and o.sender <> s.payer_address
  ) group by session_id having max(length(t.amount)) <= 32`;
/** Their decimal sum, whose parts of ${LOW_DIGITS} digits are added with a carry. */
const SUM = `select session_id, case when high + low / ${UNIT} > 0
    then cast(high + low / ${UNIT} as text) || substr(cast(${UNIT} + low % ${UNIT} as text), 2)
    else cast(low as text) end as digits
  from (${OF_OTHERS}) parts`;

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
    `update checkout_sessions
     set amount_received = substr(cast(100 + length(received.digits) as text), 2) || received.digits
     from (${SUM}) received where received.session_id = checkout_sessions.id`,
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

function decisionColumns(table: string, kind: string, hasTime: boolean): Migration['up'] {
  return [
    ...(hasTime ? [addColumn(table, `${kind}_at`, 'time')] : []),
    addColumn(table, `${kind}_by`, 'text'),
    addColumn(table, `${kind}_reason`, 'text'),
  ];
}

/** Decisions of merchants about payments. */
export const MERCHANT_DECISION_MIGRATIONS: readonly Migration[] = [ACCEPTANCE_MIGRATION, DECISIONS_MIGRATION];
