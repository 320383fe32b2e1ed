import type { Handle, Transaction } from '#db/open.ts';
import { newId } from '#lib/ids.ts';
import type { Member } from '../../members/member.ts';
import { memberStore } from '../../members/member-store.ts';
import type { NoticePayload } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { noticeStore } from './notice-store.ts';

/** Transaction of a change that is mailed. `now` is UTC milliseconds. */
export interface NoticeScope {
  readonly handle: Transaction;
  readonly seals: Seals;
  readonly now: number;
}

/** Queues one mail for each different address. */
export async function mailEach(
  { handle, seals, now }: NoticeScope,
  { organizationId, mode }: Owner,
  emails: readonly (string | null)[],
  payloadTo: (email: string) => NoticePayload,
): Promise<void> {
  const notices = [...new Set(emails)].flatMap(email => {
    if (email === null) return [];
    const notice = { id: newId('ntc'), organizationId, mode, channel: 'email' as const };
    return [{ ...notice, payload: payloadTo(email), attempts: 0, createdAt: now }];
  });
  await noticeStore(handle, seals).insert(notices);
}

/** E-mail addresses of the owners of an organization, as they are before a change. */
export async function ownerEmails(
  { handle }: Pick<NoticeScope, 'handle'>,
  organizationId: string,
): Promise<(string | null)[]> {
  return (await memberStore(handle).owners(organizationId)).map(({ email }) => email);
}

/** Name of a member, for people. */
export async function memberName(
  handle: Handle,
  { organizationId, id }: Pick<Member, 'organizationId' | 'id'>,
): Promise<string | undefined> {
  return (await memberStore(handle).find(organizationId, id))?.name;
}
