import type { DashboardHandlers, DashboardSchemas } from '#contract/contracts/payments.ts';
import { paymentsError, waitError } from '#contract/contracts/payments-errors.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db, Handle, Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { type Clock, DAY_MS, timestamp } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import type { ApiCaller } from '../../api/gate/api-context.ts';
import { resourceNotFound } from '../../api/responses/answers.ts';
import { auditStore } from '../../audit/audit-store.ts';
import { MEMBER_ROLES } from '../../browser/member-roles.ts';
import { apiKeyStore } from '../../keys/api-key-store.ts';
import type { Member } from '../../members/member.ts';
import { memberStore } from '../../members/member-store.ts';
import { ADDRESS_LIFETIME_MS, signInAddressStore, signInUrl } from '../../members/sign-in-address.ts';
import type { MemberChange } from '../../model/notification.ts';
import { mailEach, ownerEmails } from '../../notifications/store/owner-notices.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { SignIn } from './sign-ins.ts';

export interface MemberOperationsOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly publicUrl: string;
  /** True with a mail server. Without one, mails are files that no member reads. */
  readonly hasMailServer: boolean;
}

/** Lifetime of the address in an invitation, in milliseconds (Decision 416). */
const INVITATION_LIFETIME_MS = 3 * DAY_MS;
/** Most invitations and addresses that owners of an organization send within an hour (Decision 416). */
const INVITATIONS_AN_HOUR = 50;
const HOUR_MS = 3_600_000;
/** Most addresses of a member that are valid at once and were requested by mail. */
const MAILED_ADDRESSES = 3;
const MAX_MEMBERS = 200;
/** Members, and keys, whose names are listed. */
const MAX_NAMES = 1_000;

type Handlers = DashboardHandlers<
  { readonly signIn: SignIn; readonly api: ApiCaller },
  { readonly request: IncomingRequest }
>;
type MemberHandlers = Pick<
  Handlers,
  | 'listActors'
  | 'listMembers'
  | 'inviteMember'
  | 'updateMember'
  | 'removeMember'
  | 'sendSignInAddress'
  | 'requestSignInMail'
>;

/** Operations on the members of an organization, and mails that sign them in (Decisions 413 to 416). */
export function memberHandlers(options: MemberOperationsOptions): MemberHandlers {
  const { db, seals, clock, publicUrl, hasMailServer } = options;
  return {
    async listActors(_, { signIn: { member } }) {
      const { organizationId } = member;
      const members = await memberStore(db).names(organizationId, MAX_NAMES);
      const keys = await apiKeyStore(db).names(organizationId, MAX_NAMES);
      const all = [
        ...members.map(one => ({ ...one, kind: 'member', end: one.removed_at })),
        ...keys.map(one => ({ ...one, kind: 'api_key', end: one.revoked_at })),
      ];
      const data = all
        .sort((one, other) => one.created_at - other.created_at)
        .map(({ kind, id, name, end }) => ({ actor: `${kind}:${id}`, name, is_removed: end !== null }));
      return { status: 200, body: { object: 'list', data } };
    },

    async listMembers(_, { signIn: { member } }) {
      const data = (await memberStore(db).list(member.organizationId)).map(memberBody);
      return { status: 200, body: { object: 'list', data } };
    },

    inviteMember: ({ body: { name, email: given, role } }, { signIn: { member: inviter }, api }) =>
      api.commit(async handle => {
        const { organizationId } = inviter;
        const email = given.toLowerCase();
        const others = await memberStore(handle).list(organizationId);
        if (others.some(other => other.email === email)) {
          throw paymentsError('duplicate_resource', `${email} is a member already.`, { param: 'email' });
        }
        if (others.length >= MAX_MEMBERS)
          throw refused(`An organization has at most ${MAX_MEMBERS} members.`);
        const createdAt = clock.now();
        const id = newId('mem');
        const member = { id, organizationId, name: name.trim(), email, role, createdAt, removedAt: null };
        await memberStore(handle).insert(member);
        await mailOwners(handle, inviter, { kind: 'invited', member });
        return { status: 201, body: await invite(handle, member, inviter) };
      }),

    updateMember: ({ path: { member_id: id }, body }, { signIn: { member: owner }, api }) =>
      api.commit(async handle => {
        const before = await memberOf(handle, owner, id);
        const member = { ...before, name: body.name?.trim() ?? before.name, role: body.role ?? before.role };
        if (member.role !== 'owner') await checkOtherOwner(handle, before);
        await mailOwners(handle, owner, { kind: 'changed', member });
        await memberStore(handle).save(member);
        return { status: 200, body: memberBody(member) };
      }),

    removeMember: ({ path: { member_id: id } }, { signIn: { member: owner }, api }) =>
      api.commit(async handle => {
        const member = await memberOf(handle, owner, id);
        await checkOtherOwner(handle, member);
        await mailOwners(handle, owner, { kind: 'removed', member });
        await memberStore(handle).remove(id, clock.now());
        return { status: 200, body: { object: 'member', id, removed: true } as const };
      }),

    sendSignInAddress: ({ path: { member_id: id } }, { signIn: { member: owner }, api }) =>
      api.commit(async handle => {
        const member = await memberOf(handle, owner, id);
        return { status: 200, body: await invite(handle, member, owner) };
      }),

    async requestSignInMail({ body: { email } }) {
      await transaction(db, async handle => {
        const now = clock.now();
        for (const member of await memberStore(handle).withEmail(email.toLowerCase())) {
          const until = now + ADDRESS_LIFETIME_MS;
          if ((await signInAddressStore(handle).valid(member.id, { now, until })) < MAILED_ADDRESSES)
            await mailAddress(handle, member, { until, inviter: undefined });
        }
      });
      return { status: 200, body: { object: 'sign_in_mail', accepted: true } };
    },
  };

  /** Makes an address for a member: mailed with a mail server, else part of the answer. */
  async function invite(
    handle: Transaction,
    member: Member,
    inviter: Member,
  ): Promise<DashboardSchemas['Invitation']> {
    const now = clock.now();
    await checkInvitations(handle, member, now);
    await signInAddressStore(handle).removeOfMember(member.id);
    const until = now + INVITATION_LIFETIME_MS;
    const isMailed = hasMailServer && member.email !== null;
    const url = isMailed
      ? await mailAddress(handle, member, { until, inviter: inviter.name })
      : signInUrl(publicUrl, await signInAddressStore(handle).issue(member.id, until));
    return {
      object: 'invitation',
      member: memberBody(member),
      sign_in_url: isMailed ? null : url,
      expires_at: timestamp(until),
    };
  }

  /** Queues a mail about a change for each owner before the change, so that one who is demoted reads of it (Decision 417). */
  async function mailOwners(
    handle: Transaction,
    { organizationId, name: by }: Member,
    { kind, member: { name, role } }: { kind: MemberChange['kind']; member: Member },
  ): Promise<void> {
    const scope = { handle, seals, now: clock.now() };
    const change = { kind, name, role: MEMBER_ROLES[role].name, by };
    const owners = await ownerEmails(scope, organizationId);
    await mailEach(scope, { organizationId, mode: 'live' }, owners, email => ({
      kind: 'members_changed',
      email,
      change,
      changedAt: scope.now,
    }));
  }

  async function mailAddress(
    handle: Transaction,
    { id: memberId, organizationId, email }: Member,
    { until, inviter }: { until: number; inviter: string | undefined },
  ): Promise<string> {
    const url = signInUrl(publicUrl, await signInAddressStore(handle).issue(memberId, until));
    if (email === null) return url;
    const payload = { kind: 'sign_in', email, url, inviter: inviter ?? null, expiresAt: until } as const;
    const scope = { handle, seals, now: clock.now() };
    await mailEach(scope, { organizationId, mode: 'live' }, [email], () => payload);
    return url;
  }
}

function memberBody({ id, name, email, role, createdAt }: Member): DashboardSchemas['Member'] {
  return { object: 'member', id, name, email, role, created_at: timestamp(createdAt) };
}

async function memberOf(handle: Handle, { organizationId }: Member, id: string): Promise<Member> {
  const member = await memberStore(handle).find(organizationId, id);
  if (member === undefined) throw resourceNotFound('member', id);
  return member;
}

/** @throws HttpError when an owner is the last one (Decision 413) */
async function checkOtherOwner(handle: Handle, { organizationId, id, role }: Member): Promise<void> {
  if (role !== 'owner') return;
  const owners = await memberStore(handle).owners(organizationId);
  if (!owners.some(owner => owner.id !== id)) throw refused('An organization needs at least one owner.');
}

/** Limits the mails to any address that an owner can cause. @throws HttpError rate_limit_exceeded */
async function checkInvitations(
  handle: Handle,
  { organizationId }: Pick<Member, 'organizationId'>,
  now: number,
): Promise<void> {
  const owner = { organizationId, mode: 'live' } as const;
  const types = ['member.create', 'member.sign_in_address'];
  const since = now - HOUR_MS;
  const latest = await auditStore(handle).times(owner, { types, since, limit: INVITATIONS_AN_HOUR });
  const first = latest[INVITATIONS_AN_HOUR - 1];
  if (first === undefined) return;
  throw waitError(
    first + HOUR_MS - now,
    wait => `Too many invitations within an hour. Try again in ${wait}.`,
  );
}

function refused(message: string) {
  return paymentsError('invalid_status_transition', message);
}
