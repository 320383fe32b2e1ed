import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError, waitError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Handle } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import type { HttpError } from '../../http/errors.ts';
import { timestamp } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import type { NotificationSettings } from '../model/notification.ts';
import type { Owner } from '../model/owner.ts';
import {
  disableChat,
  LINK_LIFETIME_MS,
  linkTokenHash,
  linkUrl,
  newLinkToken,
  unlinked,
} from '../notifications/chat-linking.ts';
import type { Mailer } from '../notifications/mailers.ts';
import type { Messenger } from '../notifications/messenger.ts';
import { NotSent } from '../notifications/not-sent.ts';
import { messengerLinks } from '../notifications/store/messenger-links.ts';
import { notificationStore, testMails } from '../notifications/store/notification-store.ts';
import { noteRecipientChange } from '../notifications/store/recipient-notices.ts';
import { mailOf, messageOf, testContent } from '../notifications/texts.ts';
import { organizationStore } from '../store/organization-store.ts';
import type { ApiCaller, ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { checkUnchanged } from './responses/precondition.ts';

/** Operations on notifications, which are off at first (Decisions 119 and 126 to 128). */
export function notificationHandlers(context: PaymentsContext, senders: Senders) {
  const { db, seals, clock } = context;
  const { messenger } = senders;
  return {
    ...notificationTestHandlers(context, senders),

    getNotificationSettings: async (_, caller) => ({
      status: 200,
      body: settingsAnswer(await settingsOf(db, caller)),
    }),

    updateNotificationSettings: ({ body }, caller) =>
      caller.commit(async handle => {
        const before = await settingsOf(handle, caller);
        checkUnchanged(caller, () => settingsAnswer(before));
        const now = clock.now();
        const settings = changed(before, body, now);
        if (settings.emailAddress !== before.emailAddress) {
          const change = { kind: 'email_address', to: settings.emailAddress } as const;
          await noteRecipientChange({ handle, seals, now }, caller, change);
        }
        await notificationStore(handle).save(settings);
        return { status: 200, body: settingsAnswer(settings) };
      }),

    async createMessengerLink(_, caller) {
      const botName = await nameOf(messenger);
      return caller.commit(async handle => {
        const token = newLinkToken();
        const expiresAt = clock.now() + LINK_LIFETIME_MS;
        await messengerLinks(handle).put(caller, { tokenHash: linkTokenHash(token), expiresAt });
        return { status: 201, body: linkAnswer(linkUrl(botName, token), expiresAt) };
      });
    },

    deleteMessengerLink: (_, caller) =>
      caller.commit(async handle => {
        // Also ends an open link, which could link a chat again.
        await messengerLinks(handle).end(caller);
        const settings = await settingsOf(handle, caller);
        if (settings.messengerChatId === null) return { status: 200, body: settingsAnswer(settings) };
        const without = { ...unlinked(settings), updatedAt: clock.now() };
        await notificationStore(handle).save(without);
        return { status: 200, body: settingsAnswer(without) };
      }),
  } satisfies ApiHandlers;
}

/** Settings of an owner. Every owner has some, if only the defaults. */
async function settingsOf(handle: Handle, owner: Owner): Promise<NotificationSettings> {
  const settings = await notificationStore(handle).find(owner);
  if (settings === undefined) throw new Error('a caller without an organization');
  return settings;
}

/** @throws InvalidBody for an enabled channel without a target (Decision 126) */
function changed(
  settings: NotificationSettings,
  changes: PaymentsSchemas['NotificationChanges'],
  now: number,
): NotificationSettings {
  const {
    email_address: emailAddress = settings.emailAddress,
    email_enabled: emailEnabled = settings.emailEnabled && emailAddress !== null,
    messenger_enabled: messengerEnabled = settings.messengerEnabled,
    enabled_events: enabledEvents = settings.enabledEvents,
    attention = settings.attention,
    customer_emails: customerEmails = settings.customerEmails,
  } = changes;
  if (emailEnabled && emailAddress === null) {
    throw new InvalidBody('email_enabled', 'cannot be true without an email_address');
  }
  if (messengerEnabled && settings.messengerChatId === null) {
    throw new InvalidBody('messenger_enabled', 'cannot be true before the messenger is linked');
  }
  return {
    ...settings,
    emailAddress,
    emailEnabled,
    messengerEnabled,
    enabledEvents: [...new Set(enabledEvents)],
    attention,
    customerEmails,
    updatedAt: now,
  };
}

async function nameOf(messenger: Messenger | undefined): Promise<string> {
  if (messenger === undefined) throw noMessenger();
  return messenger.botName().catch(error => {
    if (!(error instanceof NotSent)) throw error;
    throw paymentsError('internal_error', 'The messenger cannot be reached. Try again later.', {
      cause: error,
    });
  });
}

interface Senders {
  readonly mailer: Mailer;
  /** Undefined when no bot is configured. */
  readonly messenger: Messenger | undefined;
}

/** Tests of both channels, which wait for the result (Decision 128). */
function notificationTestHandlers(
  { db, clock }: Pick<PaymentsContext, 'db' | 'clock'>,
  { mailer, messenger }: Senders,
) {
  return {
    sendTestEmail: (_, caller) =>
      caller.commitAround({
        async begin(handle) {
          const { settings, content } = await toBeTested(handle, caller);
          const to = addressOf(settings);
          await countOne(handle, caller.organizationId);
          return mailOf(content, { id: newId('ntc'), to });
        },
        send: mail =>
          mailer.send(mail).catch(error => {
            // The mail server's answer says what is wrong with the address.
            const refusal = `${error.message.replace(/\.?$/, '.')} Check the email address.`;
            throw worded(error, { what: 'email', refusal });
          }),
        end: async (_, { to }) => ({ status: 200, body: testAnswer(to) }),
      }),

    async sendTestMessage(_, caller) {
      if (messenger === undefined) throw noMessenger();
      return caller.commitAround({
        async begin(handle) {
          const { settings, content } = await toBeTested(handle, caller);
          return { ...chatOf(settings), text: messageOf(content) };
        },
        send: ({ chatId, text }) => messenger.send(chatId, text).catch(error => notTaken(chatId, error)),
        end: async (_, { sentTo }) => ({ status: 200, body: testAnswer(sentTo) }),
      });
    },
  } satisfies ApiHandlers;

  async function toBeTested(handle: Handle, caller: ApiCaller) {
    const settings = await notificationStore(handle).find(caller);
    if (settings === undefined) throw new Error('a caller without an organization');
    const { name } = await organizationStore(handle).profile(caller);
    return { settings, content: testContent({ name, mode: caller.mode }) };
  }

  /**
   * Counts a test mail in a transaction that is committed before the mail is sent, so that failures count too.
   * @throws HttpError for the fourth within an hour
   */
  async function countOne(handle: Handle, organizationId: string): Promise<void> {
    const now = clock.now();
    const freeAt = await testMails(handle).reserve(organizationId, now);
    if (freeAt === null) return;
    const minutes = Math.ceil((freeAt - now) / MINUTE_MS);
    const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
    throw waitError(freeAt - now, () => `Too many test emails within an hour. Send the next one in ${wait}.`);
  }

  /** Translates the failure of a message. A blocked bot is first recorded in the settings. */
  async function notTaken(chatId: string, error: unknown): Promise<never> {
    const isBlocked = error instanceof NotSent && error.kind === 'blocked';
    if (isBlocked) await transaction(db, handle => disableChat(handle, chatId, clock.now()));
    throw worded(error, {
      what: 'message',
      refusal: isBlocked
        ? 'The bot is blocked in the linked chat. Start it there again, or link another chat, and turn messages on.'
        : 'The messenger does not deliver to the linked chat. Link a chat again.',
    });
  }
}

const MINUTE_MS = 60_000;

/** @throws HttpError when no address is set or mails are off */
function addressOf({ emailEnabled, emailAddress }: NotificationSettings): string {
  if (emailAddress === null) {
    throw notPossible('No email address is set. Set one in the notification settings, and turn emails on.');
  }
  if (!emailEnabled) throw notPossible('Emails are off. Turn them on in the notification settings.');
  return emailAddress;
}

/** @throws HttpError when no chat is linked or messages are off */
function chatOf(settings: NotificationSettings): { chatId: string; sentTo: string } {
  const { messengerEnabled, messengerChatId: chatId, messengerUsername: username } = settings;
  if (chatId === null) {
    throw notPossible('No chat is linked. Link one in the notification settings.');
  }
  if (!messengerEnabled) throw notPossible('Messages are off. Turn them on in the notification settings.');
  return { chatId, sentTo: username === null ? chatId : `@${username}` };
}

/** Refusal for a server without a bot, which only the operator can add (Decision 127). */
function noMessenger(): HttpError {
  return notPossible('This server has no bot. Its operator can set one up (payments.messenger).');
}

function notPossible(message: string, cause?: unknown): HttpError {
  return paymentsError('invalid_field_value', message, { cause });
}

/** Translates the failure of a test for the client. The details of an outage are only in the operator's log. */
function worded(error: unknown, { what, refusal }: { what: string; refusal: string }): unknown {
  if (!(error instanceof NotSent)) return error;
  if (error.kind === 'unavailable') {
    return paymentsError('internal_error', `The ${what} could not be sent now. Try again later.`, {
      cause: error,
    });
  }
  return notPossible(refusal, error);
}

/** Notification settings in the envelope with `success` (Decision 119). */
function settingsAnswer(settings: NotificationSettings): PaymentsSchemas['NotificationSettingsAnswer'] {
  return {
    success: true,
    data: {
      email_enabled: settings.emailEnabled,
      email_address: settings.emailAddress,
      messenger_enabled: settings.messengerEnabled,
      messenger_chat_id: settings.messengerChatId,
      messenger_username: settings.messengerUsername,
      enabled_events: [...settings.enabledEvents],
      attention: settings.attention,
      customer_emails: settings.customerEmails,
      updated_at: timestamp(settings.updatedAt),
    },
  };
}

/** Answer with a link to the bot; `expiresAt` is UTC milliseconds. */
function linkAnswer(url: string, expiresAt: number): PaymentsSchemas['MessengerLinkAnswer'] {
  return { success: true, data: { link_url: url, expires_at: timestamp(expiresAt) } };
}

/** Answer to a test that was sent. */
function testAnswer(sentTo: string): PaymentsSchemas['TestNotificationAnswer'] {
  return { success: true, data: { sent_to: sentTo, status: 'sent' } };
}
