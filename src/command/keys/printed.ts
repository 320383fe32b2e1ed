import type { Handle } from '#db/open.ts';
import { Refused } from '#lib/command-line.ts';
import type { Organization } from '#payments/model/owner.ts';
import { organizationStore } from '#payments/store/organization-store.ts';

/** Output of a command: results for programs, and remarks for people. */
export interface Printed {
  readonly lines: readonly string[];
  readonly remarks?: readonly string[];
}

/** Finds an organization by id or name. @throws Refused when there is none */
export async function namedOrganization(handle: Handle, nameOrId: string): Promise<Organization> {
  const organizations = organizationStore(handle);
  const found = (await organizations.find(nameOrId)) ?? (await organizations.findByName(nameOrId));
  if (found === undefined) throw new Refused(`there is no organization ${nameOrId}; list shows all of them`);
  return found;
}
