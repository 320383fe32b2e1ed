import { addColumn, type Migration } from '#db/migrate.ts';

/**
 * Reasons why sessions ended. Before, only time, the merchant and the deletion of a link ended them, and the last two
 * left no trace that tells them apart. Uses of completed sessions whose payment was dropped were not given back.
 */
export const ENDED_REASONS_MIGRATION: Migration = {
  name: 'reasons of ended sessions',
  up: [
    addColumn('checkout_sessions', 'ended_reason', 'text'),
    `update checkout_sessions set ended_reason = case when ended_at >= expires_at then 'time' else 'merchant' end
     where status = 'expired'`,
    // For the return of a use.
    `create index sessions_sold_out on checkout_sessions (payment_link_id, created_at)
     where ended_reason = 'sold_out'`,
    // Marks links that have sold out while more sessions were open than one transaction ends.
    addColumn('payment_links', 'ends_sessions', ['boolean', 'not null default false']),
    'create index payment_links_ending on payment_links (id) where ends_sessions',
    `update payment_links set current_uses = current_uses - (
       select count(*) from checkout_sessions s where s.payment_link_id = payment_links.id and s.is_reorged
     ) where exists (
       select 1 from checkout_sessions s where s.payment_link_id = payment_links.id and s.is_reorged
     )`,
  ],
};

/** Uses of links that are reserved for sessions. Processes of older versions neither reserve nor keep any. */
export const USE_RESERVATIONS_MIGRATION: Migration = {
  name: 'reserved uses',
  up: [
    addColumn('payment_links', 'reserve_uses', ['boolean', 'not null default false']),
    addColumn('checkout_sessions', 'use_reserved_until', 'time'),
    `create index sessions_reserving on checkout_sessions (payment_link_id)
     where status = 'active' and use_reserved_until is not null`,
  ],
};

/**
 * Outcome of sessions whose payment has no proof. Processes of older versions list sessions by outcome without an index
 * until they are upgraded.
 */
export const UNPROVEN_OUTCOME_MIGRATION: Migration = {
  name: 'sessions without a proof',
  up: [
    'drop index sessions_by_outcome',
    `create index sessions_by_outcome on checkout_sessions (organization_id, mode, (
       case
       when status = 'completed' and is_reorged then 'dropped'
       when status = 'completed' and amount_overpaid <> '010' then 'overpaid'
       when status = 'completed' then 'paid'
       when payment_status = 'confirming' then 'confirming'
       when payment_status = 'paid' and ended_reason = 'sold_out' then 'paid_sold_out'
       when payment_status = 'paid' and ended_reason = 'unproven' then 'paid_unproven'
       when payment_status = 'paid' then 'paid_late'
       when payment_status = 'underpaid' then 'partial'
       when payment_status = 'failed' and failure_reason = 'reorged' then 'dropped'
       when ended_reason = 'sold_out' then 'sold_out'
       when payment_status = 'failed' then 'failed'
       when status = 'expired' then 'expired'
       else 'waiting' end
     ), created_at, id, payment_link_id, status)`,
  ],
};

/**
 * For lists of the sessions with one outcome (Decision 365). The text of the outcome is that of `OUTCOME_SQL` when this
 * step was written. New rules need a new index.
 */
export const OUTCOMES_MIGRATION: Migration = {
  name: 'sessions by outcome',
  up: [
    `create index sessions_by_outcome on checkout_sessions (organization_id, mode, (
       case
       when status = 'completed' and is_reorged then 'dropped'
       when status = 'completed' and amount_overpaid <> '010' then 'overpaid'
       when status = 'completed' then 'paid'
       when payment_status = 'confirming' then 'confirming'
       when payment_status = 'paid' and ended_reason = 'sold_out' then 'paid_sold_out'
       when payment_status = 'paid' then 'paid_late'
       when payment_status = 'underpaid' then 'partial'
       when payment_status = 'failed' and failure_reason = 'reorged' then 'dropped'
       when ended_reason = 'sold_out' then 'sold_out'
       when payment_status = 'failed' then 'failed'
       when status = 'expired' then 'expired'
       else 'waiting' end
     ), created_at, id, payment_link_id, status)`,
  ],
};
