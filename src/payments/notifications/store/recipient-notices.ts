import type { Transaction } from '#db/open.ts';
import { newId } from '#lib/ids.ts';
import { memberStore } from '../../members/member-store.ts';
import type { RecipientChange } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { noticeStore } from './notice-store.ts';
import { notificationStore } from './notification-store.ts';

/**
 * Queues mails about a change of where payments of real money can go (Decisions 138 and 417). They go to the owners and to
 * the address that was set before the change, also when mails are off, because a stolen key can turn them off. Call it before the change is saved.
 */
export async function noteRecipientChange(
  { handle, seals, now }: { readonly handle: Transaction; readonly seals: Seals; readonly now: number },
  { organizationId, mode }: Owner,
  change: RecipientChange,
): Promise<void> {
  if (mode !== 'live') return;
  const settings = await notificationStore(handle).find({ organizationId, mode });
  const owners = await memberStore(handle).owners(organizationId);
  const emails = [settings?.emailAddress ?? null, ...owners.map(owner => owner.email)];
  const notices = [...new Set(emails)].flatMap(email => {
    if (email === null) return [];
    const payload = { kind: 'recipients_changed', email, change, changedAt: now } as const;
    const channel = 'email' as const;
    return [{ id: newId('ntc'), organizationId, mode, channel, payload, attempts: 0, createdAt: now }];
  });
  await noticeStore(handle, seals).insert(notices);
}
