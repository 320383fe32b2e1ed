import type { Migration } from '../../db/migrate.ts';
import { table } from '../../db/table.ts';

const OWNER = {
  organization_id: ['text', 'not null references organizations (id)'],
  mode: ['text', "not null check (mode in ('live', 'test'))"],
} as const;

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
