import type { RecipientChange } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import { notificationStore } from './notification-store.ts';
import { mailEach, type NoticeScope, ownerEmails } from './owner-notices.ts';

/**
 * Queues mails about a change of where payments of real money can go (Decisions 138 and 417). They go to the owners and to
 * the address that was set before the change, also when mails are off, because a stolen key can turn them off. Call it
 * before the change is saved.
 */
export async function noteRecipientChange(
  scope: NoticeScope,
  owner: Owner,
  change: RecipientChange,
): Promise<void> {
  if (owner.mode !== 'live') return;
  const { organizationId, mode } = owner;
  const settings = await notificationStore(scope.handle).find({ organizationId, mode });
  const emails = [settings?.emailAddress ?? null, ...(await ownerEmails(scope, organizationId))];
  await mailEach(scope, owner, emails, email => ({
    kind: 'recipients_changed',
    email,
    change,
    changedAt: scope.now,
  }));
}
