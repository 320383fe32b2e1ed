import type { Handle } from '#db/open.ts';
import { newId } from '#lib/ids.ts';
import { noticeStore } from '../../notifications/store/notice-store.ts';
import { notificationStore } from '../../notifications/store/notification-store.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { Webhook } from '../model/webhook.ts';

/** Has a mail sent about a webhook that we switched off, also when mails are off; to nobody when no address is set. Decision 128. */
export async function noteDisabled(
  handle: Handle,
  seals: Seals,
  { organizationId, mode, id, url }: Webhook,
  now: number,
): Promise<void> {
  const settings = await notificationStore(handle).find({ organizationId, mode });
  if (settings === undefined || settings.emailAddress === null) return;
  const payload = { kind: 'webhook_disabled', webhookId: id, url, disabledAt: now } as const;
  await noticeStore(handle, seals).insert([
    { id: newId('ntc'), organizationId, mode, channel: 'email', payload, attempts: 0, createdAt: now },
  ]);
}
