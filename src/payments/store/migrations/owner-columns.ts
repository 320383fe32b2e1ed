/** The columns of the organization and mode that a row belongs to. */
export const OWNER = {
  organization_id: ['text', 'not null references organizations (id)'],
  mode: ['text', "not null check (mode in ('live', 'test'))"],
} as const;
