/** Columns for the organization and mode that own a row. */
export const OWNER = {
  organization_id: ['text', 'not null references organizations (id)'],
  mode: ['text', "not null check (mode in ('live', 'test'))"],
} as const;
