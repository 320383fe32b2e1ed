import type { Transaction } from '#db/open.ts';
import { newId } from '#lib/ids.ts';
import type { RecipientChange } from '../../model/notification.ts';
import type { Owner } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { noticeStore } from './notice-store.ts';
import { notificationStore } from './notification-store.ts';

/**
 * Queues a mail about a change of where payments of real money can go (Decision 138). It goes to the address that was set
 * before the change, also when mails are off, because a stolen key can turn them off. Call it before the change is saved.
 */
export async function noteRecipientChange(
  { handle, seals, now }: { readonly handle: Transaction; readonly seals: Seals; readonly now: number },
  { organizationId, mode }: Owner,
  change: RecipientChange,
): Promise<void> {
  if (mode !== 'live') return;
  const settings = await notificationStore(handle).find({ organizationId, mode });
  const email = settings?.emailAddress ?? null;
  if (email === null) return;
  const payload = { kind: 'recipients_changed', email, change, changedAt: now } as const;
  await noticeStore(handle, seals).insert([
    { id: newId('ntc'), organizationId, mode, channel: 'email', payload, attempts: 0, createdAt: now },
  ]);
}
