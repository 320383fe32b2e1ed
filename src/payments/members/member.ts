import type { MemberRole } from '../browser/member-roles.ts';

/** A person of an organization. Times are UTC milliseconds. */
export interface Member {
  readonly id: string;
  readonly organizationId: string;
  /** For people. */
  readonly name: string;
  /** In lower case; null when none is known. */
  readonly email: string | null;
  readonly role: MemberRole;
  readonly createdAt: number;
  /** Null for a member that was not removed. */
  readonly removedAt: number | null;
}
