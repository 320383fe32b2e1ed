import { createHash } from 'node:crypto';
import type { Handle, Transaction } from '../../db/open.ts';
import { randomBase62 } from '../../lib/ids.ts';
import { plainLine } from '../../lib/single-line.ts';
import type { NotificationSettings } from '../model/notification.ts';
import type { Mode, Owner } from '../model/owner.ts';
import { organizationStore } from '../store/organization-store.ts';
import type { ChatUpdate } from './messenger.ts';
import { messengerLinks } from './store/messenger-links.ts';
import { notificationStore } from './store/notification-store.ts';

/** The owner of a linked chat. `isEnabled` is true when messages are switched on. */
interface LinkedChat {
  readonly organization: string;
  readonly mode: Mode;
  readonly isEnabled: boolean;
}

/**
 * Links the chat to the owner of the token, in place of an earlier chat. Undefined for a token that is unknown, used or
 * expired.
 */
async function linkChat(
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
  const { name } = await organizationStore(handle).profile(owner);
  return { organization: name, mode: owner.mode, isEnabled: changed.messengerEnabled };
}

/** Unlinks a chat from all owners. Returns their number. */
async function unlinkChat(handle: Handle, chatId: string, now: number): Promise<number> {
  return changeAll(handle, chatId, unlinked, now);
}

/** Switches messages off for a chat in which the bot was blocked. The chat stays linked. */
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

const WELCOME =
  'This bot notifies merchants about their payments. To link this chat, choose “Link a chat” on the page Notifications of your dashboard.';
const NOT_VALID =
  'This link does not work. It can be used once, within 15 minutes, and creating a new link ends it. Please create a new link.';
const STOPPED = 'This chat is unlinked. You get no more messages about payments here.';
const NOTHING_TO_STOP = 'This chat is not linked, so there is nothing to stop.';

/**
 * Carries out a command to the bot and returns the answer; undefined for no answer. Groups are ignored, because
 * notifications are for one person (Decision 127).
 */
export async function answerTo(
  handle: Transaction,
  update: ChatUpdate,
  now: number,
): Promise<string | undefined> {
  if (!update.isPrivate) return undefined;
  if (update.isBlocked) {
    await disableChat(handle, update.chatId, now);
    return undefined;
  }
  const text = update.text?.trim() ?? '';
  if (text === '/stop') return (await unlinkChat(handle, update.chatId, now)) > 0 ? STOPPED : NOTHING_TO_STOP;
  if (!/^\/start(\s|$)/.test(text)) return undefined;
  if (text === '/start') return WELCOME;
  const token = startedToken(text);
  const linked = token === undefined ? undefined : await linkChat(handle, token, update, now);
  return linked === undefined ? NOT_VALID : welcomed(linked);
}

function welcomed({ organization, mode, isEnabled }: LinkedChat): string {
  const whose = `This chat is now linked to ${plainLine(organization)} (${mode} mode).`;
  const what = isEnabled
    ? 'Messages about payments come here from now on.'
    : 'To get messages about payments here, choose “Turn on” on the page Notifications of your dashboard.';
  return `${whose} ${what} Write /stop to unlink it.`;
}

/** Lifetime of a link. Document 3, "Messenger link". */
export const LINK_LIFETIME_MS = 15 * 60_000;

const TOKEN_LENGTH = 32;
/** Text that the bot receives when start is pressed on a link. */
const START_LINK = /^\/start link_([0-9A-Za-z]{32})$/;

/** A token for a link to the bot. Its 190 random bits cannot be guessed. */
export function newLinkToken(): string {
  return randomBase62(TOKEN_LENGTH);
}

/** Hash that is stored in place of a token. A plain hash is enough for 190 random bits. */
export function linkTokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** A deep link that opens the bot and passes it the token when start is pressed. */
export function linkUrl(botName: string, token: string): string {
  return `https://t.me/${botName}?start=link_${token}`;
}

/** The token in a message to the bot; undefined for any other text. */
function startedToken(text: string): string | undefined {
  return START_LINK.exec(text.trim())?.[1];
}
