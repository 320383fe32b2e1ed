import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';

/** Mode of a record: real money or test money. Each mode has chains of its own (Decision 107). */
export type Mode = 'live' | 'test';

/** Owner of a record. A caller sees the records of one organization and mode. */
export interface Owner {
  readonly organizationId: string;
  readonly mode: Mode;
}

/**
 * Author of a decision: a program with a key, a member, or the operator by a command. Older records name the key with which
 * a person had signed in to the dashboard.
 */
export type Actor = `${'api_key' | 'member' | 'dashboard'}:${string}` | 'operator';

/** A decision of the merchant: who made it, and why. */
export interface Decision {
  readonly actor: Actor;
  readonly reason: string | null;
}

/** Level of an organization's limit on requests per minute (Decision 105). */
export type Tier = 'standard' | 'elevated';

/** A merchant's organization, with the defaults of its new links. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly defaults: LinkDefaults;
  /** UTC milliseconds. */
  readonly createdAt: number;
}

/** Name and logo that payers see when a link has no branding of its own. */
export interface MerchantIdentity {
  readonly name: string;
  /** An https address. */
  readonly logoUrl: string | null;
}

/** Name and logo of a merchant, which a session keeps. */
export type BrandedMerchant = Pick<PaymentsSchemas['Merchant'], 'name' | 'logo_url'>;

/** Settings of an organization in one mode that its new sessions copy, unless their link has its own. */
export interface SessionDefaults extends MerchantIdentity {
  /** Part of the price that a certain payer may leave out (Decision 348), in hundredths of a percent. */
  readonly toleranceBps: number;
}

/** Ways for payers to reach an organization (Decision 444); each is null if there is none. */
export interface Contact {
  readonly contactEmail: string | null;
  /** Https addresses. */
  readonly siteUrl: string | null;
  readonly termsUrl: string | null;
}

/** An organization with the settings of one mode. They override the operator's entries (Decision 220). */
export interface OrganizationProfile extends Organization, SessionDefaults, Contact {}

export interface LinkDefaults {
  readonly chainId: number | null;
  /** Lower case; the zero address is the native coin. */
  readonly tokenAddress: string | null;
  /** Lower case. */
  readonly recipientAddress: string | null;
}
