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

/** A chat that was linked: to whom, and whether messages go there already. */
interface LinkedChat {
  readonly organization: string;
  readonly mode: Mode;
  readonly isEnabled: boolean;
}

/** Links the chat to whoever made the token, in place of the chat before; undefined for a token that is not valid now. */
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

/** Forgets a chat wherever it is linked; answers with how often it was. */
async function unlinkChat(handle: Handle, chatId: string, now: number): Promise<number> {
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

const WELCOME =
  'This bot tells merchants about their payments. To link this chat, open a link that POST /notifications/messenger/link has answered.';
const NOT_VALID =
  'This link does not work (any more): it can be used once, within 15 minutes, and a newer one ends it. Please create a new link.';
const STOPPED = 'This chat is unlinked. You get no more messages about payments here.';
const NOTHING_TO_STOP = 'This chat is not linked, so there is nothing to stop.';

/**
 * Does what somebody asked the bot for, and gives the words to answer with; undefined for what is not answered: whatever
 * comes from a group, for what is told about payments is for one person. Decision 127.
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
    : 'To get messages about payments here, set messenger_enabled to true in the notification settings.';
  return `${whose} ${what} Write /stop to unlink it.`;
}

/** How long a link works. Document 3, "Messenger link". */
export const LINK_LIFETIME_MS = 15 * 60_000;

const TOKEN_LENGTH = 32;
/** What pressing start on a link writes to the bot. */
const START_LINK = /^\/start link_([0-9A-Za-z]{32})$/;

/** What a link to the bot carries: 190 bits, so nobody finds one by trying. */
export function newLinkToken(): string {
  return randomBase62(TOKEN_LENGTH);
}

/** What is kept of a token. A plain hash is enough for something that long. */
export function linkTokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The deep link that opens the bot and, when start is pressed there, hands it the token. */
export function linkUrl(botName: string, token: string): string {
  return `https://t.me/${botName}?start=link_${token}`;
}

/** The token in what was written to the bot; undefined for anything else. */
function startedToken(text: string): string | undefined {
  return START_LINK.exec(text.trim())?.[1];
}
