import { type Migration, table } from '#db/migrate.ts';
import { OWNER } from './owner-columns.ts';

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
