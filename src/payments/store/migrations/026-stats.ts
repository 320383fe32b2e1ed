import { addColumn, type Migration, table } from '#db/migrate.ts';
import { DAY_MS } from '#lib/clock.ts';
import { OWNER } from './002-payments.ts';

/**
 * Customers, and the indexes by which sessions and transactions are found (Decisions 430 and 438). Sessions of older
 * versions have null as their customer until retention has looked at them; an empty text says that there is none.
 */
export const SEARCH_MIGRATION: Migration = {
  name: 'search and customers',
  up: [
    table('customers', {
      id: ['text', 'primary key'],
      ...OWNER,
      wallet_address: 'text',
      email_hash: 'text',
      sealed_contact: 'text',
      created_at: ['time', 'not null'],
      updated_at: ['time', 'not null'],
    }),
    'create index customers_by_age on customers (organization_id, mode, created_at, id)',
    `create unique index customers_by_email on customers (organization_id, mode, email_hash)
     where email_hash is not null`,
    `create unique index customers_by_wallet on customers (organization_id, mode, wallet_address)
     where wallet_address is not null`,
    addColumn('checkout_sessions', 'customer_id', 'text'),
    'create index sessions_of_customer on checkout_sessions (organization_id, mode, customer_id, created_at, id)',
    'create index sessions_unidentified on checkout_sessions (id) where customer_id is null',
    `create index sessions_by_reference on checkout_sessions
     (organization_id, mode, lower(client_reference_id), created_at, id) where client_reference_id is not null`,
    `create index sessions_by_payer on checkout_sessions (organization_id, mode, payer_address, created_at, id)
     where payer_address is not null`,
    `create index sessions_of_price on checkout_sessions
     (organization_id, mode, amount, created_at, id, token_address)`,
    `create index sessions_of_exact_amount on checkout_sessions (organization_id, mode, amount_due, created_at, id)
     where amount_due <> amount`,
    // '010' is the column form of the amount 0.
    `create index sessions_by_unusual_amount on checkout_sessions (organization_id, mode, amount_received, created_at, id)
     where amount_received <> '010' and amount_received <> amount and amount_received <> amount_due`,
    `create index sessions_refunded on checkout_sessions (organization_id, mode, created_at, id)
     where amount_refunded <> '010'`,
    `create index transactions_by_sender on transactions (organization_id, mode, sender, created_at, id, session_id)
     where sender is not null`,
    `create index transactions_of_amount on transactions
     (organization_id, mode, amount, created_at, id, token_address)`,
    'create index refunds_by_hash on refunds (tx_hash) where tx_hash is not null',
  ],
};

/** For searches by a wallet that signed, where the session names another one that paid (Decision 430). */
export const SIGNED_SEARCH_MIGRATION: Migration = {
  name: 'search by wallets that signed',
  up: [
    `create index sessions_by_other_signer on checkout_sessions (organization_id, mode, signed_address, created_at, id)
     where signed_address is not null and signed_address is distinct from payer_address`,
  ],
};

/**
 * Customers by whether they bought anything, and those that are being erased (Decisions 437 and 438). Names and wallets may
 * be of checkouts that nobody paid, so all sessions are looked at again.
 */
export const CUSTOMERS_MIGRATION: Migration = {
  name: 'purchases of customers',
  up: [
    'delete from customers',
    'update checkout_sessions set customer_id = null where customer_id is not null',
    addColumn('customers', 'last_purchase_at', 'time'),
    `create index customers_paid on customers (organization_id, mode, created_at, id)
     where last_purchase_at is not null`,
    `create index customers_unpaid on customers (organization_id, mode, created_at, id)
     where last_purchase_at is null`,
    table('customer_erasures', {
      customer_id: ['text', 'primary key'],
      ...OWNER,
      started_at: ['time', 'not null'],
    }),
  ],
};

/**
 * Sessions of a customer, with all columns that its figures need. They are added up in parts in the order of the index, without
 * reading rows.
 */
export const CUSTOMER_FIGURES_MIGRATION: Migration = {
  name: 'figures of customers',
  up: [
    'drop index sessions_of_customer',
    `create index sessions_of_customer on checkout_sessions
     (organization_id, mode, customer_id, created_at, id, chain_id, token_address, completed_at, amount_received, amount_refunded)`,
  ],
};

/**
 * Figures by day. The indexes have the order of the groups and all counted columns, so a year of one organization is
 * added up without sorting and without reading its rows.
 */
export const STATS_MIGRATION: Migration = {
  name: 'stats',
  up: [
    `create index sessions_by_day on checkout_sessions
     (organization_id, mode, (created_at / ${DAY_MS}), chain_id, token_address, status, created_at)`,
    `create index transactions_by_day on transactions
     (organization_id, mode, (created_at / ${DAY_MS}), chain_id, token_address, status, created_at, amount)`,
    'drop index transactions_of_link',
    `create index transactions_of_link on transactions
     (payment_link_id, (created_at / ${DAY_MS}), chain_id, token_address, status, created_at, amount)`,
    // Numbers of unpaid sessions that retention removed. `payment_link_id` is empty for sessions without a link.
    table(
      'removed_sessions',
      {
        ...OWNER,
        day: ['count', 'not null'],
        chain_id: ['count', 'not null'],
        token_address: ['text', 'not null'],
        payment_link_id: ['text', 'not null'],
        sessions: ['count', 'not null'],
      },
      ['primary key (organization_id, mode, day, chain_id, token_address, payment_link_id)'],
    ),
    'create index removed_sessions_of_link on removed_sessions (payment_link_id, day)',
  ],
};
