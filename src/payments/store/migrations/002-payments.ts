import { type Migration, table } from '#db/migrate.ts';

/** Columns for the organization and mode that own a row. */
export const OWNER = {
  organization_id: ['text', 'not null references organizations (id)'],
  mode: ['text', "not null check (mode in ('live', 'test'))"],
} as const;

/** Schema steps for organizations, links, sessions, payments and their events. */
export const PAYMENT_MIGRATIONS: readonly Migration[] = [
  {
    name: 'organizations and keys',
    up: [
      table('organizations', {
        id: ['text', 'primary key'],
        name: ['text', 'not null unique'],
        tier: ['text', "not null check (tier in ('standard', 'elevated'))"],
        default_chain_id: 'count',
        default_token_address: 'text',
        default_recipient_address: 'text',
        created_at: ['time', 'not null'],
      }),
      table('api_keys', {
        id: ['text', 'primary key'],
        ...OWNER,
        name: ['text', 'not null'],
        key_hash: ['bytes', 'not null unique'],
        prefix: ['text', 'not null'],
        last_four: ['text', 'not null'],
        permission: ['text', "not null check (permission in ('read', 'write', 'admin'))"],
        expires_at: 'time',
        last_used_at: 'time',
        created_at: ['time', 'not null'],
        revoked_at: 'time',
      }),
      'create index api_keys_of_organization on api_keys (organization_id, created_at, id)',
      table(
        'idempotency_keys',
        {
          ...OWNER,
          key: ['text', 'not null'],
          fingerprint: ['bytes', 'not null'],
          status: ['count', 'not null'],
          sealed_body: ['text', 'not null'],
          created_at: ['time', 'not null'],
        },
        ['primary key (organization_id, mode, key)'],
      ),
      'create index idempotency_keys_by_age on idempotency_keys (created_at)',
    ],
  },
  {
    name: 'payment links',
    up: [
      table('payment_links', {
        id: ['text', 'primary key'],
        ...OWNER,
        short_code: ['text', 'not null unique'],
        name: ['text', 'not null'],
        description: 'text',
        is_active: ['boolean', 'not null'],
        amount: 'uint256',
        min_amount: 'uint256',
        max_amount: 'uint256',
        suggested_amount: 'uint256',
        chain_id: ['count', 'not null'],
        token_address: ['text', 'not null'],
        recipient_address: ['text', 'not null'],
        image_url: 'text',
        theme_color: 'text',
        button_text: ['text', 'not null'],
        return_url: 'text',
        return_label: 'text',
        branding: 'json',
        form_schema: 'json',
        shipping_options: ['json', 'not null'],
        collect_shipping_address: ['boolean', 'not null'],
        items: ['json', 'not null'],
        max_uses: 'count',
        current_uses: ['count', 'not null'],
        expires_at: 'time',
        metadata: ['json', 'not null'],
        created_at: ['time', 'not null'],
        updated_at: ['time', 'not null'],
        // Name and short code in upper case, because the databases fold letters beyond ASCII differently.
        search_text: ['text', 'not null'],
      }),
      // Covers search, filter and all orders, so listing 100,000 links does not read their rows.
      `create index payment_links_by_age on payment_links
       (organization_id, mode, created_at, id, is_active, search_text, name, updated_at, current_uses)`,
      // A code is never used again (Decision 108), because it may be in a printed address.
      table('short_codes', {
        code: ['text', 'primary key'],
        payment_link_id: ['text', 'not null'],
      }),
    ],
  },
  {
    name: 'checkout sessions',
    up: [
      table('checkout_sessions', {
        id: ['text', 'primary key'],
        ...OWNER,
        payment_link_id: ['text', 'references payment_links (id) on delete set null'],
        status: ['text', "not null check (status in ('active', 'completed', 'expired'))"],
        payment_status: ['text', 'not null'],
        chain_id: ['count', 'not null'],
        token_address: ['text', 'not null'],
        recipient_address: ['text', 'not null'],
        subtotal: ['uint256', 'not null'],
        amount: ['uint256', 'not null'],
        amount_due: ['uint256', 'not null'],
        is_wallet_only: ['boolean', 'not null'],
        amount_received: ['uint256', 'not null'],
        presentation: ['json', 'not null'],
        payer_address: 'text',
        tx_hash: 'text',
        confirmations: ['count', 'not null'],
        required_confirmations: ['count', 'not null'],
        transaction_id: 'text',
        failure_reason: 'text',
        is_late: ['boolean', 'not null'],
        is_reorged: ['boolean', 'not null'],
        success_url: 'text',
        cancel_url: 'text',
        client_reference_id: 'text',
        metadata: ['json', 'not null'],
        sealed_customer: 'text',
        shipping_option: 'json',
        expires_at: ['time', 'not null'],
        created_at: ['time', 'not null'],
        updated_at: ['time', 'not null'],
        completed_at: 'time',
        ended_at: 'time',
      }),
      // These two cover the filters, so counting a list does not read its rows.
      'create index sessions_by_age on checkout_sessions (organization_id, mode, created_at, id, status)',
      'create index sessions_of_link on checkout_sessions (payment_link_id, created_at, id, organization_id, mode, status)',
      "create index sessions_by_end on checkout_sessions (chain_id, expires_at) where status = 'active'",
      // Open sessions of one recipient ask for different amounts (Decision 110).
      `create unique index sessions_by_amount on checkout_sessions (chain_id, token_address, recipient_address, amount_due)
       where status = 'active' and not is_wallet_only`,
      // These two find the ended sessions that a transfer may be meant for.
      `create index sessions_by_amount_and_end on checkout_sessions (chain_id, token_address, recipient_address, amount_due, ended_at)
       where status = 'expired' and not is_wallet_only`,
      `create index sessions_by_payer on checkout_sessions (chain_id, token_address, recipient_address, payer_address, ended_at)
       where payer_address is not null`,
      table(
        'watched_recipients',
        {
          ...OWNER,
          chain_id: ['count', 'not null'],
          token_address: ['text', 'not null'],
          recipient_address: ['text', 'not null'],
        },
        ['primary key (chain_id, token_address, recipient_address, organization_id, mode)'],
      ),
    ],
  },
  {
    name: 'payments',
    up: [
      table('transactions', {
        id: ['text', 'primary key'],
        ...OWNER,
        status: ['text', "not null check (status in ('pending', 'confirming', 'completed', 'failed'))"],
        payment_link_id: ['text', 'references payment_links (id) on delete set null'],
        session_id: ['text', 'not null references checkout_sessions (id)'],
        chain_id: ['count', 'not null'],
        token_address: ['text', 'not null'],
        amount: ['uint256', 'not null'],
        sender: 'text',
        recipient: ['text', 'not null'],
        tx_hash: 'text',
        log_index: 'count',
        block_number: 'count',
        block_hash: 'text',
        block_time: 'time',
        confirmations: ['count', 'not null'],
        required_confirmations: ['count', 'not null'],
        matched_by: ['text', 'not null'],
        failure_reason: 'text',
        is_late: ['boolean', 'not null'],
        is_duplicate: ['boolean', 'not null'],
        is_partial: ['boolean', 'not null'],
        overpaid_amount: 'uint256',
        nonce: 'count',
        created_at: ['time', 'not null'],
        confirmed_at: 'time',
        completed_at: 'time',
      }),
      // One transfer pays one session only.
      'create unique index transactions_by_place on transactions (chain_id, tx_hash, log_index) where log_index is not null',
      // For claims only. A transfer that lost its block has no log index either, but it has a sender, and there may be
      // several per hash.
      'create unique index transactions_by_claim on transactions (session_id, tx_hash) where sender is null',
      'create index transactions_by_hash on transactions (chain_id, tx_hash)',
      // Covers the filters of the list.
      'create index transactions_by_age on transactions (organization_id, mode, created_at, id, status, chain_id)',
      'create index transactions_of_session on transactions (session_id, created_at, id)',
      'create index transactions_of_link on transactions (payment_link_id)',
      "create index transactions_open on transactions (chain_id, status) where status in ('pending', 'confirming')",
      "create index transactions_by_block on transactions (chain_id, block_number) where status = 'completed'",
      table(
        'unmatched_transfers',
        {
          id: ['text', 'primary key'],
          ...OWNER,
          chain_id: ['count', 'not null'],
          tx_hash: ['text', 'not null'],
          log_index: ['count', 'not null'],
          block_number: ['count', 'not null'],
          block_hash: ['text', 'not null'],
          block_time: ['time', 'not null'],
          token_address: ['text', 'not null'],
          sender: ['text', 'not null'],
          recipient: ['text', 'not null'],
          amount: ['uint256', 'not null'],
          confirmed_at: 'time',
          session_id: 'text',
          transaction_id: 'text',
          created_at: ['time', 'not null'],
          assigned_at: 'time',
        },
        ['unique (chain_id, tx_hash, log_index, organization_id, mode)'],
      ),
      'create index transfers_by_age on unmatched_transfers (organization_id, mode, created_at, id)',
      'create index transfers_unconfirmed on unmatched_transfers (chain_id) where confirmed_at is null',
      'create index transfers_by_block on unmatched_transfers (chain_id, block_number) where assigned_at is null',
      table('chain_cursors', {
        chain_id: ['count', 'primary key'],
        block_number: ['count', 'not null'],
        // Start of the latest complete scan up to the node's head.
        scanned_at: ['time', 'not null'],
      }),
    ],
  },
  {
    name: 'events',
    up: [
      table('events', {
        id: ['text', 'primary key'],
        ...OWNER,
        type: ['text', 'not null'],
        // Key of the fact that the event reports. The same fact is reported once.
        fact: ['text', 'not null unique'],
        sealed_data: ['text', 'not null'],
        created_at: ['time', 'not null'],
        // Order of events within a millisecond.
        place: ['count', 'not null'],
      }),
      'create index events_by_age on events (organization_id, mode, created_at, place, id, type)',
    ],
  },
  {
    name: 'rate limits',
    up: [
      // The table that the rate limiter expects. It is unlogged, because a crash loses at most a minute of counts.
      ({ unlogged }) => `create ${unlogged}table rate_limits (
        key varchar(255) primary key,
        points integer not null default 0,
        expire bigint
      )`,
    ],
  },
  {
    name: 'amounts that ended lately',
    up: [
      `create index sessions_by_end_and_amount on checkout_sessions (chain_id, token_address, recipient_address, ended_at, amount_due)
       where status = 'expired' and not is_wallet_only`,
    ],
  },
  {
    name: 'first blocks',
    up: [
      table('first_blocks', {
        chain_id: ['count', 'primary key'],
        block_hash: ['text', 'not null'],
      }),
    ],
  },
];

/** One row for each encryption key, with a text that only this key decrypts. */
export const SECRET_KEYS_MIGRATION: Migration = {
  name: 'secret keys',
  up: [table('secret_keys', { id: ['text', 'primary key'], canary: ['text', 'not null'] })],
};
