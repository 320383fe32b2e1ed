import type { Transaction } from '#db/open.ts';
import { plainLine } from '../messages/plain-line.ts';
import { disableChat, type LinkedChat, linkChat, unlinkChat } from './chat-linking.ts';
import { startedToken } from './link-codes.ts';
import type { ChatUpdate } from './messenger.ts';

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
