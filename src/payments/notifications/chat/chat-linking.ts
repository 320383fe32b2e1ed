import type { Handle } from '#db/open.ts';
import type { NotificationSettings } from '../../model/notification.ts';
import type { Mode, Owner } from '../../model/owner.ts';
import { organizationStore } from '../../store/organization-store.ts';
import { messengerLinks } from '../store/messenger-links.ts';
import { notificationStore } from '../store/notification-store.ts';
import { linkTokenHash } from './link-codes.ts';

/** A chat that was linked: to whom, and whether messages go there already. */
export interface LinkedChat {
  readonly organization: string;
  readonly mode: Mode;
  readonly isEnabled: boolean;
}

/** Links the chat to whoever made the token, in place of the chat before; undefined for a token that is not valid now. */
export async function linkChat(
  handle: Handle,
  token: string,
  chat: { chatId: string; username: string | null },
  now: number,
): Promise<LinkedChat | undefined> {
  const owner = await messengerLinks(handle).take(linkTokenHash(token), now);
  if (owner === undefined) return undefined;
  const changed = await change(
    handle,
    owner,
    settings => ({ ...settings, messengerChatId: chat.chatId, messengerUsername: chat.username }),
    now,
  );
  const organization = await organizationStore(handle).find(owner.organizationId);
  if (organization === undefined) throw new Error('a link of no organization');
  return { organization: organization.name, mode: owner.mode, isEnabled: changed.messengerEnabled };
}

/** Forgets a chat wherever it is linked; answers with how often it was. */
export async function unlinkChat(handle: Handle, chatId: string, now: number): Promise<number> {
  return changeAll(handle, chatId, unlinked, now);
}

/** Sends no more messages to a chat whose person has blocked the bot; it stays linked. */
export async function disableChat(handle: Handle, chatId: string, now: number): Promise<number> {
  return changeAll(handle, chatId, settings => ({ ...settings, messengerEnabled: false }), now);
}

/** Settings without a messenger. */
export function unlinked(settings: NotificationSettings): NotificationSettings {
  return { ...settings, messengerEnabled: false, messengerChatId: null, messengerUsername: null };
}

type Change = (settings: NotificationSettings) => NotificationSettings;

async function changeAll(handle: Handle, chatId: string, how: Change, now: number): Promise<number> {
  const owners = await notificationStore(handle).ownersOfChat(chatId);
  for (const owner of owners) await change(handle, owner, how, now);
  return owners.length;
}

async function change(handle: Handle, owner: Owner, how: Change, now: number): Promise<NotificationSettings> {
  const store = notificationStore(handle);
  const settings = await store.find(owner);
  if (settings === undefined) throw new Error('notification settings of no organization');
  const changed = { ...how(settings), updatedAt: now };
  await store.save(changed);
  return changed;
}
