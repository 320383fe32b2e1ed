import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { StoredBoolean } from '#db/columns.ts';
import type { Actor, Mode, Tier } from '../model/owner.ts';

/** Columns of the organization and mode that a row belongs to. */
export interface OwnerColumns {
  organization_id: string;
  mode: Mode;
}

export interface OrganizationRow {
  id: string;
  name: string;
  tier: Tier;
  default_chain_id: number | null;
  default_token_address: string | null;
  default_recipient_address: string | null;
  created_at: number;
}

export interface OrganizationSettingsRow extends OwnerColumns {
  recipients_locked: StoredBoolean;
  origins: string;
  updated_at: number;
  name: string | null;
  logo_url: string | null;
  default_chain_id: number | null;
  default_token_address: string | null;
  default_recipient_address: string | null;
  tolerance_bps: number;
  contact_email: string | null;
  site_url: string | null;
  terms_url: string | null;
}

interface ApiKeyRow extends OwnerColumns {
  id: string;
  name: string;
  key_hash: Buffer;
  prefix: string;
  last_four: string;
  permission: PaymentsSchemas['Permission'];
  expires_at: number | null;
  last_used_at: number | null;
  created_at: number;
  revoked_at: number | null;
  rolled_at: number | null;
}

interface MemberRow {
  id: string;
  organization_id: string;
  name: string;
  email: string | null;
  role: 'owner' | 'developer' | 'support' | 'read_only';
  created_at: number;
  removed_at: number | null;
}

interface MemberSessionRow {
  id: string;
  token_hash: Buffer;
  member_id: string;
  mode: Mode;
  address: string;
  user_agent: string | null;
  created_at: number;
  expires_at: number;
  confirmed_at: number | null;
}

interface SignInAddressRow {
  token_hash: Buffer;
  member_id: string;
  expires_at: number;
}

interface PasskeyRow {
  id: string;
  member_id: string;
  name: string;
  public_key: Buffer;
  counter: number;
  transports: string;
  created_at: number;
  last_used_at: number | null;
}

interface AuditEventRow extends OwnerColumns {
  id: string;
  type: string;
  resource_id: string | null;
  actor: Actor;
  address: string;
  method: string;
  path: string;
  status: number;
  created_at: number;
}

/** Media type of an uploaded picture. */
export type ImageType = PaymentsSchemas['Image']['type'];

interface ImageRow extends OwnerColumns {
  id: string;
  digest: Buffer;
  type: ImageType;
  width: number;
  height: number;
  size: number;
  was_named: StoredBoolean;
  used_at: number;
  created_at: number;
  bytes: Buffer;
}

export interface IdempotencyRow extends OwnerColumns {
  key: string;
  fingerprint: Buffer;
  status: number;
  sealed_body: string;
  created_at: number;
}

declare module 'knex/types/tables.js' {
  /** Tables of organizations, their keys, members and pictures, and the limits of requests. */
  interface Tables {
    organizations: OrganizationRow;
    organization_settings: OrganizationSettingsRow;
    api_keys: ApiKeyRow;
    members: MemberRow;
    member_sessions: MemberSessionRow;
    sign_in_addresses: SignInAddressRow;
    passkeys: PasskeyRow;
    spent_challenges: { challenge_hash: Buffer; expires_at: number };
    idempotency_keys: IdempotencyRow;
    audit_events: AuditEventRow;
    images: ImageRow;
    image_names: { named_by: string; image_id: string };
    secret_keys: { id: string; canary: string };
    rate_limits: { key: string; points: number; expire: number | null };
  }
}
