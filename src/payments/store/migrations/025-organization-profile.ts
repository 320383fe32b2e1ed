import { addColumn, type Migration } from '#db/migrate.ts';

/** Name, logo and defaults of an organization, for each mode. Null is what the operator entered. Decision 220. */
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
