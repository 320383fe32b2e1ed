/** Whether records are of real or of test money. Decision 107. */
export type Mode = 'live' | 'test';

/** Whose records: all that a caller may see belongs to one organization and mode. */
export interface Owner {
  readonly organizationId: string;
  readonly mode: Mode;
}

/** How many requests a minute the keys of an organization have. Decision 105. */
export type Tier = 'standard' | 'elevated';

/** Who is paid, and what its new links take when they name nothing else. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly defaults: LinkDefaults;
  /** UTC milliseconds. */
  readonly createdAt: number;
}

/** Who is paid, as payers see it where a link has no branding of its own. */
export interface MerchantIdentity {
  readonly name: string;
  /** An https address. */
  readonly logoUrl: string | null;
}

/** An organization as the settings of one mode show it: they stand above what the operator entered. Decision 220. */
export interface OrganizationProfile extends Organization, MerchantIdentity {}

export interface LinkDefaults {
  readonly chainId: number | null;
  /** Lower case; the zero address is the native coin. */
  readonly tokenAddress: string | null;
  /** Lower case. */
  readonly recipientAddress: string | null;
}
