import { addColumn, type Migration } from '#db/migrate.ts';

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
