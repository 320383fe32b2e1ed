import type { Transaction } from '#db/open.ts';
import { newId } from '#lib/ids.ts';
import type { Member } from './member.ts';
import { memberStore } from './member-store.ts';
import { ADDRESS_LIFETIME_MS, signInAddressStore } from './sign-in-address.ts';

interface OwnerAddress {
  readonly owner: Member;
  /** True when the owner did not exist before. */
  readonly isNew: boolean;
  /** Token of the one-time address. */
  readonly token: string;
}

/**
 * Makes a one-time address for an owner of an organization: the one with this e-mail address, or the oldest. Creates the
 * owner when there is none (Decision 414). Earlier addresses of the owner become invalid. `now` is UTC milliseconds.
 */
export async function ownerAddress(
  handle: Transaction,
  {
    organizationId,
    email,
    name = 'Owner',
  }: { organizationId: string; email?: string | undefined; name?: string | undefined },
  now: number,
): Promise<OwnerAddress> {
  const members = memberStore(handle);
  const owners = await members.owners(organizationId);
  const known = owners.find(owner => email === undefined || owner.email === email);
  const owner = known ?? {
    id: newId('mem'),
    organizationId,
    name,
    email: email ?? null,
    role: 'owner',
    createdAt: now,
    removedAt: null,
  };
  if (known === undefined) await members.insert(owner);
  const addresses = signInAddressStore(handle);
  await addresses.removeOfMember(owner.id);
  const token = await addresses.issue(owner.id, now + ADDRESS_LIFETIME_MS);
  return { owner, isNew: known === undefined, token };
}
