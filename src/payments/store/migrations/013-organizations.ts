import { addColumn, type Migration, table } from '#db/migrate.ts';
import { OWNER } from './002-payments.ts';

/** Settings of an organization, for each mode. */
export const ORGANIZATION_SETTINGS_MIGRATION: Migration = {
  name: 'organization settings',
  up: [
    table(
      'organization_settings',
      {
        ...OWNER,
        recipients_locked: ['boolean', 'not null'],
        origins: ['json', 'not null'],
        updated_at: ['time', 'not null'],
      },
      ['primary key (organization_id, mode)'],
    ),
  ],
};

/**
 * Addresses that organizations are paid at. Existing recipients of sessions and links are taken over. The organization
 * that named an address first owns it. Watched recipients are covered too, because each has had a session.
 */
export const RECIPIENTS_MIGRATION: Migration = {
  name: 'recipients',
  up: [
    table(
      'recipients',
      {
        id: ['text', 'primary key'],
        ...OWNER,
        chain_id: ['count', 'not null'],
        address: ['text', 'not null'],
        is_owner: ['boolean', 'not null'],
        proof: ['text', "check (proof in ('signature', 'operator'))"],
        proven_at: 'time',
        nonce: ['text', 'not null'],
        nonce_issued_at: ['time', 'not null'],
        created_at: ['time', 'not null'],
      },
      ['unique (chain_id, address, organization_id, mode)', 'check (proof is null or is_owner)'],
    ),
    // At most one owner per address and chain.
    'create unique index recipients_owner on recipients (chain_id, address) where is_owner',
    'create index recipients_by_age on recipients (organization_id, mode, created_at, id, chain_id)',
    ({ randomHex }) => `
        insert into recipients
          (id, organization_id, mode, chain_id, address, is_owner, nonce, nonce_issued_at, created_at)
        select 'rcp_' || ${randomHex(24)}, organization_id, mode, chain_id, address,
          row_number() over (partition by chain_id, address order by named_at, organization_id, mode) = 1,
          ${randomHex(32)}, named_at, named_at
        from (
          select organization_id, mode, chain_id, recipient_address as address, min(created_at) as named_at
          from (
            select organization_id, mode, chain_id, recipient_address, created_at from checkout_sessions
            union all
            select organization_id, mode, chain_id, recipient_address, created_at from payment_links
          ) named
          group by organization_id, mode, chain_id, recipient_address
        ) first_named`,
    // Open unmatched transfers go to the owner, without duplicates.
    `delete from unmatched_transfers where assigned_at is null and exists (
       select 1 from unmatched_transfers kept
       join recipients on recipients.chain_id = kept.chain_id and recipients.address = kept.recipient
       where recipients.is_owner and kept.id <> unmatched_transfers.id and kept.chain_id = unmatched_transfers.chain_id
         and kept.tx_hash = unmatched_transfers.tx_hash and kept.log_index = unmatched_transfers.log_index
         and kept.organization_id = recipients.organization_id and kept.mode = recipients.mode
     )`,
    `delete from unmatched_transfers where assigned_at is null and exists (
       select 1 from unmatched_transfers kept
       where kept.assigned_at is null and kept.id < unmatched_transfers.id and kept.chain_id = unmatched_transfers.chain_id
         and kept.tx_hash = unmatched_transfers.tx_hash and kept.log_index = unmatched_transfers.log_index
     )`,
    `update unmatched_transfers set
       suggested_session_id = case when exists (select 1 from recipients
         where is_owner and chain_id = unmatched_transfers.chain_id and address = unmatched_transfers.recipient
           and organization_id = unmatched_transfers.organization_id and mode = unmatched_transfers.mode)
         then suggested_session_id end,
       organization_id = (select organization_id from recipients
         where is_owner and chain_id = unmatched_transfers.chain_id and address = unmatched_transfers.recipient),
       mode = (select mode from recipients
         where is_owner and chain_id = unmatched_transfers.chain_id and address = unmatched_transfers.recipient)
     where assigned_at is null and exists (select 1 from recipients
       where is_owner and chain_id = unmatched_transfers.chain_id and address = unmatched_transfers.recipient)`,
    // A transfer that another organization assigned has paid its session, so the owner's copy could never be assigned.
    `delete from unmatched_transfers where assigned_at is null and exists (
       select 1 from transactions
       where transactions.chain_id = unmatched_transfers.chain_id and transactions.tx_hash = unmatched_transfers.tx_hash
         and transactions.log_index = unmatched_transfers.log_index
     )`,
    // Only sessions of the owner are matched by amount.
    `update checkout_sessions set is_wallet_only = true
     where status = 'active' and not is_wallet_only and not exists (select 1 from recipients
       where is_owner and chain_id = checkout_sessions.chain_id and address = checkout_sessions.recipient_address
         and organization_id = checkout_sessions.organization_id and mode = checkout_sessions.mode)`,
  ],
};

/**
 * An organization sets its own name, logo and defaults (Decision 220), for each mode. Null for the operator's value.
 */
export const ORGANIZATION_PROFILE_MIGRATION: Migration = {
  name: 'organization profiles',
  up: [
    addColumn('organization_settings', 'name', 'text'),
    addColumn('organization_settings', 'logo_url', 'text'),
    addColumn('organization_settings', 'default_chain_id', 'count'),
    addColumn('organization_settings', 'default_token_address', 'text'),
    addColumn('organization_settings', 'default_recipient_address', 'text'),
  ],
};

/** Ways for payers to reach an organization (Decision 444). */
export const ORGANIZATION_CONTACT_MIGRATION: Migration = {
  name: 'organization contacts',
  up: [
    addColumn('organization_settings', 'contact_email', 'text'),
    addColumn('organization_settings', 'site_url', 'text'),
    addColumn('organization_settings', 'terms_url', 'text'),
  ],
};

/** Dashboard sessions. A key is exchanged for a session (Decision 244), and only the cookie's hash is stored (245). */
export const DASHBOARD_SESSIONS_MIGRATION: Migration = {
  name: 'dashboard sessions',
  up: [
    table('dashboard_sessions', {
      // SHA-256 of the cookie's value.
      token_hash: ['bytes', 'primary key'],
      key_id: ['text', 'not null references api_keys (id) on delete cascade'],
      created_at: ['time', 'not null'],
      expires_at: ['time', 'not null'],
    }),
    'create index dashboard_sessions_of_key on dashboard_sessions (key_id)',
    'create index dashboard_sessions_by_end on dashboard_sessions (expires_at)',
  ],
};

/**
 * Members of organizations, and how they sign in (Decisions 244 and 413 to 416). `dashboard_sessions`, whose rows belong to
 * keys, serves processes of earlier versions only. A later release drops it.
 */
export const MEMBERS_MIGRATION: Migration = {
  name: 'members',
  up: [
    table('members', {
      id: ['text', 'primary key'],
      organization_id: ['text', 'not null references organizations (id)'],
      name: ['text', 'not null'],
      // In lower case.
      email: 'text',
      role: ['text', "not null check (role in ('owner', 'developer', 'support', 'read_only'))"],
      created_at: ['time', 'not null'],
      removed_at: 'time',
    }),
    'create index members_of_organization on members (organization_id, created_at, id)',
    'create unique index members_by_email on members (email, organization_id) where removed_at is null',
    table('member_sessions', {
      id: ['text', 'primary key'],
      // SHA-256 of the cookie's value.
      token_hash: ['bytes', 'not null unique'],
      member_id: ['text', 'not null references members (id)'],
      mode: ['text', "not null check (mode in ('live', 'test'))"],
      // Address and browser that opened it.
      address: ['text', 'not null'],
      user_agent: 'text',
      created_at: ['time', 'not null'],
      expires_at: ['time', 'not null'],
      // Time at which a passkey last confirmed the member.
      confirmed_at: 'time',
    }),
    'create index member_sessions_of_member on member_sessions (member_id, created_at)',
    'create index member_sessions_by_end on member_sessions (expires_at)',
    table('sign_in_addresses', {
      // SHA-256 of the token.
      token_hash: ['bytes', 'primary key'],
      member_id: ['text', 'not null references members (id)'],
      expires_at: ['time', 'not null'],
    }),
    'create index sign_in_addresses_of_member on sign_in_addresses (member_id)',
    'create index sign_in_addresses_by_end on sign_in_addresses (expires_at)',
    table('passkeys', {
      // Id of the credential, in base64url.
      id: ['text', 'primary key'],
      member_id: ['text', 'not null references members (id)'],
      name: ['text', 'not null'],
      public_key: ['bytes', 'not null'],
      // Uses that the authenticator reports; 0 for those that do not count.
      counter: ['count', 'not null'],
      transports: ['json', 'not null'],
      created_at: ['time', 'not null'],
      last_used_at: 'time',
    }),
    'create index passkeys_of_member on passkeys (member_id, created_at)',
    table('spent_challenges', {
      // SHA-256 of a challenge that a passkey has answered.
      challenge_hash: ['bytes', 'primary key'],
      expires_at: ['time', 'not null'],
    }),
  ],
};

/** Log of changes. Processes of older versions write none. */
export const AUDIT_MIGRATION: Migration = {
  name: 'audit log',
  up: [
    table('audit_events', {
      id: ['text', 'primary key'],
      ...OWNER,
      type: ['text', 'not null'],
      resource_id: 'text',
      actor: ['text', 'not null'],
      address: ['text', 'not null'],
      method: ['text', 'not null'],
      path: ['text', 'not null'],
      status: ['count', 'not null'],
      created_at: ['time', 'not null'],
    }),
    'create index audit_events_by_age on audit_events (organization_id, mode, created_at, id)',
    'create index audit_events_by_time on audit_events (created_at)',
  ],
};

/** Uploaded pictures, and the links and settings that name them (Decision 447). */
export const IMAGES_MIGRATION: Migration = {
  name: 'images',
  up: [
    table(
      'images',
      {
        id: ['text', 'primary key'],
        ...OWNER,
        // SHA-256 of the bytes.
        digest: ['bytes', 'not null'],
        type: ['text', 'not null'],
        width: ['count', 'not null'],
        height: ['count', 'not null'],
        size: ['count', 'not null'],
        was_named: ['boolean', 'not null'],
        // Time of the last upload, or at which something stopped naming it.
        used_at: ['time', 'not null'],
        created_at: ['time', 'not null'],
        // Last, so that the other columns are read without it.
        bytes: ['bytes', 'not null'],
      },
      ['unique (organization_id, mode, digest)'],
    ),
    'create index images_by_use on images (used_at, was_named, id)',
    table(
      'image_names',
      {
        // Id of a link, or that of an organization and the mode of its settings.
        named_by: ['text', 'not null'],
        image_id: ['text', 'not null references images (id)'],
      },
      ['primary key (named_by, image_id)'],
    ),
    'create index image_names_of_image on image_names (image_id)',
  ],
};
