import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import type { NotificationSettings } from '../../model/notification.ts';

/** Notification settings as they are answered. Decision 119. */
export function settingsAnswer(
  settings: NotificationSettings,
): PaymentsSchemas['NotificationSettingsAnswer'] {
  return {
    success: true,
    data: {
      email_enabled: settings.emailEnabled,
      email_address: settings.emailAddress,
      messenger_enabled: settings.messengerEnabled,
      messenger_chat_id: settings.messengerChatId,
      messenger_username: settings.messengerUsername,
      enabled_events: [...settings.enabledEvents],
      updated_at: new Date(settings.updatedAt).toISOString(),
    },
  };
}

/** A link to the bot as it is answered; `expiresAt` is UTC milliseconds. */
export function linkAnswer(url: string, expiresAt: number): PaymentsSchemas['MessengerLinkAnswer'] {
  return { success: true, data: { link_url: url, expires_at: new Date(expiresAt).toISOString() } };
}

/** A test that was sent, as it is answered. */
export function testAnswer(sentTo: string): PaymentsSchemas['TestNotificationAnswer'] {
  return { success: true, data: { sent_to: sentTo, status: 'sent' } };
}
