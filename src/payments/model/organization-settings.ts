import type { Owner } from './owner.ts';

/** Settings of an organization in one mode. */
export interface OrganizationSettings extends Owner {
  /** Links and sessions can name only recipients that are on the list already. */
  readonly recipientsLocked: boolean;
  /** Origins of the organization's own front ends, each exactly as browsers send it. */
  readonly origins: readonly string[];
  /** UTC milliseconds. */
  readonly updatedAt: number;
}

/** Settings that hold until they are changed. */
export function defaultOrganizationSettings(
  { organizationId, mode }: Owner,
  updatedAt: number,
): OrganizationSettings {
  return { organizationId, mode, recipientsLocked: false, origins: [], updatedAt };
}
