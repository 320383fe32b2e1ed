import type { components as Dashboard } from '#generated/dashboard/types.ts';
import type { components as Payments } from '#generated/payments/types.ts';

export type MemberRole = Dashboard['schemas']['MemberRole'];

interface RoleRights {
  readonly name: string;
  /** Permission of the API that the role has. */
  readonly permission: Payments['schemas']['Permission'];
  /** True when the role decides who is a member, and where money goes. */
  readonly isOwner: boolean;
  /** Rights of the role, for people. */
  readonly hint: string;
}

/** Rights of each role, highest first. The server enforces them, and pages hide what a role may not do (Decision 413). */
export const MEMBER_ROLES: Readonly<Record<MemberRole, RoleRights>> = {
  owner: {
    name: 'Owner',
    permission: 'admin',
    isOwner: true,
    hint: 'Everything, including people and the addresses that receive money.',
  },
  developer: {
    name: 'Developer',
    permission: 'admin',
    isOwner: false,
    hint: 'Everything except people and the addresses that receive money.',
  },
  support: {
    name: 'Support',
    permission: 'write',
    isOwner: false,
    hint: 'Payments, links and refunds. No API keys, webhooks or settings.',
  },
  read_only: {
    name: 'View only',
    permission: 'read',
    isOwner: false,
    hint: 'Sees payments and settings, and changes nothing.',
  },
};
