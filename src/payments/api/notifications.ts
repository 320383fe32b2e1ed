import type { PaymentsHandlers, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Handle } from '../../db/open.ts';
import type { NotificationSettings } from '../model/notification.ts';
import type { Owner } from '../model/owner.ts';
import {
  LINK_LIFETIME_MS,
  linkTokenHash,
  linkUrl,
  newLinkToken,
  unlinked,
} from '../notifications/chat/chat-linking.ts';
import type { Messenger } from '../notifications/chat/messenger.ts';
import { NotSent } from '../notifications/messages/not-sent.ts';
import { messengerLinks } from '../notifications/store/messenger-links.ts';
import { notificationStore } from '../notifications/store/notification-store.ts';
import type { AnonymousCaller, ApiCaller, PaymentsContext } from './gate/api-context.ts';
import {
  type NotificationTestHandlers,
  noMessenger,
  notificationTestHandlers,
  type Senders,
} from './notification-tests.ts';
import { linkAnswer, settingsAnswer } from './responses/notification-body.ts';

type Handlers = NotificationTestHandlers &
  Pick<
    PaymentsHandlers<ApiCaller, AnonymousCaller>,
    'getNotificationSettings' | 'updateNotificationSettings' | 'createMessengerLink' | 'deleteMessengerLink'
  >;

/** The operations of notifications. Decisions 119 and 126 to 128. */
export function notificationHandlers(context: PaymentsContext, senders: Senders): Handlers {
  const { db, clock } = context;
  const { messenger } = senders;
  return {
    ...notificationTestHandlers(context, senders),

    getNotificationSettings: async (_, caller) => ({
      status: 200,
      body: settingsAnswer(await settingsOf(db, caller)),
    }),

    updateNotificationSettings: ({ body }, caller) =>
      caller.commit(async handle => {
        const settings = changed(await settingsOf(handle, caller), body, clock.now());
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
        // Whoever unlinks wants no messages: a link that is still open would bring them back.
        await messengerLinks(handle).end(caller);
        const settings = await settingsOf(handle, caller);
        if (settings.messengerChatId === null) return { status: 200, body: settingsAnswer(settings) };
        const without = { ...unlinked(settings), updatedAt: clock.now() };
        await notificationStore(handle).save(without);
        return { status: 200, body: settingsAnswer(without) };
      }),
  };
}

/** The settings of an owner, who has some in any case. */
async function settingsOf(handle: Handle, owner: Owner): Promise<NotificationSettings> {
  const settings = await notificationStore(handle).find(owner);
  if (settings === undefined) throw new Error('a caller without an organization');
  return settings;
}

/** @throws InvalidBody for a channel that would be enabled and lead nowhere. Decision 126. */
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
