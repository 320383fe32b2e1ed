import { booleanOf, jsonColumn, jsonOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import type { Contact, LinkDefaults, Organization, OrganizationProfile, Owner } from '../model/owner.ts';
import type { OrganizationRow, OrganizationSettingsRow } from '../tables/organization-tables.ts';
import { select } from '../tables/select.ts';

/** Organizations, with unique names. */
export function organizationStore(handle: Handle) {
  return {
    async insert(organization: Organization): Promise<void> {
      await handle('organizations').insert({
        id: organization.id,
        name: organization.name,
        tier: organization.tier,
        ...defaultValues(organization.defaults),
        created_at: organization.createdAt,
      });
    },

    async find(id: string): Promise<Organization | undefined> {
      const [row] = await select({ from: 'organizations', columns: ['*'] }).rows(handle, 'where id = ?', [
        id,
      ]);
      return row && organizationOf(row);
    },

    /**
     * Public identity in one mode, with its own settings over the operator's. @throws Error for an unknown organization
     */
    async profile({ organizationId, mode }: Owner): Promise<OrganizationProfile> {
      const [row] = await WITH_SETTINGS.rows(handle, 'where o.id = ?', [mode, organizationId]);
      if (row === undefined) throw new Error(`There is no organization ${organizationId}.`);
      return {
        ...organizationOf(row),
        ...contactOf(row),
        logoUrl: row.logo_url,
        toleranceBps: row.tolerance_bps,
      };
    },

    async findByName(name: string): Promise<Organization | undefined> {
      const [row] = await select({ from: 'organizations', columns: ['*'] }).rows(handle, 'where name = ?', [
        name,
      ]);
      return row && organizationOf(row);
    },

    /** All organizations, ordered by name. */
    async list(): Promise<Organization[]> {
      const rows = await select({ from: 'organizations', columns: ['*'] }).rows(handle, 'order by name');
      return rows.map(organizationOf);
    },
  };
}

const WITH_SETTINGS = select({
  from: 'organizations o',
  leftJoin: ['organization_settings s on s.organization_id = o.id and s.mode = ?'],
  columns: ['o.id', 'o.tier', 'o.created_at', 's.logo_url', 's.contact_email', 's.site_url', 's.terms_url'],
  computed: {
    name: ['text', 'coalesce(s.name, o.name)'],
    tolerance_bps: ['count', 'coalesce(s.tolerance_bps, 0)'],
    default_chain_id: ['count?', 'coalesce(s.default_chain_id, o.default_chain_id)'],
    default_token_address: ['text?', 'coalesce(s.default_token_address, o.default_token_address)'],
    default_recipient_address: [
      'text?',
      'coalesce(s.default_recipient_address, o.default_recipient_address)',
    ],
  },
});

function organizationOf(row: OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    tier: row.tier,
    defaults: defaultsOf(row),
    createdAt: row.created_at,
  };
}

function contactOf({
  contact_email: contactEmail,
  site_url: siteUrl,
  terms_url: termsUrl,
}: Pick<OrganizationSettingsRow, 'contact_email' | 'site_url' | 'terms_url'>): Contact {
  return { contactEmail, siteUrl, termsUrl };
}

type DefaultColumns = 'default_chain_id' | 'default_token_address' | 'default_recipient_address';

function defaultsOf(row: Pick<OrganizationRow, DefaultColumns>): LinkDefaults {
  return {
    chainId: row.default_chain_id,
    tokenAddress: row.default_token_address,
    recipientAddress: row.default_recipient_address,
  };
}

function defaultValues({ chainId, tokenAddress, recipientAddress }: LinkDefaults) {
  return {
    default_chain_id: chainId,
    default_token_address: tokenAddress,
    default_recipient_address: recipientAddress,
  } satisfies Pick<OrganizationRow, DefaultColumns>;
}

/** Settings of an organization in one mode. */
export interface OrganizationSettings extends Owner, Contact {
  /** True when links and sessions can use only recipients that are already on the list. */
  readonly recipientsLocked: boolean;
  /** Origins of the organization's own front ends, in the exact form of the Origin header. */
  readonly origins: readonly string[];
  /** Null for the operator's value, as for each of the defaults. */
  readonly name: string | null;
  readonly logoUrl: string | null;
  readonly defaults: LinkDefaults;
  /** In hundredths of a percent. */
  readonly toleranceBps: number;
  /** UTC milliseconds. */
  readonly updatedAt: number;
}

/** Settings of an organization that has saved none. */
function defaultOrganizationSettings(
  { organizationId, mode }: Owner,
  updatedAt: number,
): OrganizationSettings {
  return {
    organizationId,
    mode,
    recipientsLocked: false,
    origins: [],
    name: null,
    logoUrl: null,
    contactEmail: null,
    siteUrl: null,
    termsUrl: null,
    defaults: { chainId: null, tokenAddress: null, recipientAddress: null },
    toleranceBps: 0,
    updatedAt,
  };
}

/** Settings of organizations. Each organization and mode has a row once it changed them. */
export function organizationSettingsStore(handle: Handle) {
  return {
    /** The defaults when none were saved. @throws Error when there is no such organization */
    async find(owner: Owner): Promise<OrganizationSettings> {
      const { organizationId, mode } = owner;
      const [row] = await select({ from: 'organization_settings', columns: ['*'] }).rows(
        handle,
        'where organization_id = ? and mode = ?',
        [organizationId, mode],
      );
      if (row !== undefined) return settingsOf(row);
      const organization = await organizationStore(handle).find(organizationId);
      if (organization === undefined) throw new Error(`There is no organization ${organizationId}.`);
      return defaultOrganizationSettings(owner, organization.createdAt);
    },

    /** Writes all settings, in the transaction that read them. */
    async save(settings: OrganizationSettings): Promise<void> {
      await handle('organization_settings')
        .insert(valuesOf(settings))
        .onConflict(['organization_id', 'mode'])
        .merge();
    },
  };
}

function valuesOf(settings: OrganizationSettings) {
  return {
    organization_id: settings.organizationId,
    mode: settings.mode,
    recipients_locked: settings.recipientsLocked,
    origins: jsonColumn(settings.origins),
    name: settings.name,
    logo_url: settings.logoUrl,
    ...defaultValues(settings.defaults),
    tolerance_bps: settings.toleranceBps,
    contact_email: settings.contactEmail,
    site_url: settings.siteUrl,
    terms_url: settings.termsUrl,
    updated_at: settings.updatedAt,
  } satisfies OrganizationSettingsRow;
}

function settingsOf(row: OrganizationSettingsRow): OrganizationSettings {
  return {
    organizationId: row.organization_id,
    mode: row.mode,
    recipientsLocked: booleanOf(row.recipients_locked),
    origins: jsonOf(row.origins),
    name: row.name,
    logoUrl: row.logo_url,
    ...contactOf(row),
    defaults: defaultsOf(row),
    toleranceBps: row.tolerance_bps,
    updatedAt: row.updated_at,
  };
}
