import { type Binding, booleanOf, jsonColumn, jsonOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { defaultOrganizationSettings, type OrganizationSettings } from '../model/organization-settings.ts';
import type { Mode, Owner } from '../model/owner.ts';
import { organizationStore } from './organization-store.ts';

/** Settings of organizations, one row for each organization and mode that changed them. */
export function organizationSettingsStore(handle: Handle) {
  return {
    /** The defaults when none were saved. @throws Error when there is no such organization */
    async find(owner: Owner): Promise<OrganizationSettings> {
      const { organizationId, mode } = owner;
      const [row] = await rowsOf<SettingsRow>(
        handle,
        'select * from organization_settings where organization_id = ? and mode = ?',
        [organizationId, mode],
      );
      if (row !== undefined) return settingsOf(row);
      const organization = await organizationStore(handle).find(organizationId);
      if (organization === undefined) throw new Error(`There is no organization ${organizationId}.`);
      return defaultOrganizationSettings(owner, organization.createdAt);
    },

    /** Writes all settings, in the transaction that read them. */
    async save(settings: OrganizationSettings): Promise<void> {
      const values = valuesOf(settings);
      const columns = Object.keys(values);
      await execute(
        handle,
        `insert into organization_settings (${columns.join(', ')}) values (${placeholders(columns.length)})
         on conflict (organization_id, mode) do update set
           ${columns.map(column => `${column} = excluded.${column}`).join(', ')}`,
        Object.values(values),
      );
    },
  };
}

interface SettingsRow {
  organization_id: string;
  mode: Mode;
  recipients_locked: number | boolean;
  origins: string;
  updated_at: number;
}

function valuesOf(settings: OrganizationSettings) {
  return {
    organization_id: settings.organizationId,
    mode: settings.mode,
    recipients_locked: settings.recipientsLocked,
    origins: jsonColumn(settings.origins),
    updated_at: settings.updatedAt,
  } satisfies Record<keyof SettingsRow, Binding>;
}

function settingsOf(row: SettingsRow): OrganizationSettings {
  return {
    organizationId: row.organization_id,
    mode: row.mode,
    recipientsLocked: booleanOf(row.recipients_locked),
    origins: jsonOf(row.origins),
    updatedAt: row.updated_at,
  };
}
