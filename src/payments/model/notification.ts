import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { EventType, PaymentEvent } from './event.ts';
import type { Owner } from './owner.ts';

/** Events that people can be notified of. Document 3, "Events". */
type NotificationEvent = PaymentsSchemas['NotificationEvent'];
export type Channel = 'email' | 'messenger';

const NOTIFICATION_EVENTS = [
  'payment.completed',
  'payment.failed',
  'checkout.completed',
] as const satisfies readonly NotificationEvent[];

/** Notification settings of one organization and mode. */
export interface NotificationSettings extends Owner {
  readonly emailEnabled: boolean;
  readonly emailAddress: string | null;
  readonly messengerEnabled: boolean;
  /** The linked chat. */
  readonly messengerChatId: string | null;
  /** Without `@`. */
  readonly messengerUsername: string | null;
  readonly enabledEvents: readonly NotificationEvent[];
  /** UTC milliseconds. */
  readonly updatedAt: number;
}

/** Content of a notice. */
export type NoticePayload =
  | { readonly kind: 'payment'; readonly event: PaymentEvent }
  | {
      readonly kind: 'webhook_disabled';
      readonly webhookId: string;
      readonly url: string;
      /** UTC milliseconds. */
      readonly disabledAt: number;
    };

/** One message to a person. Its target is read from the settings when it is sent. */
export interface Notice extends Owner {
  readonly id: string;
  readonly channel: Channel;
  readonly payload: NoticePayload;
  /** Attempts that have begun. */
  readonly attempts: number;
  /** UTC milliseconds. */
  readonly createdAt: number;
}

/** Settings of an owner that has saved none: both channels are off (Decision 126). */
export function defaultSettings({ organizationId, mode }: Owner, updatedAt: number): NotificationSettings {
  return {
    organizationId,
    mode,
    emailEnabled: false,
    emailAddress: null,
    messengerEnabled: false,
    messengerChatId: null,
    messengerUsername: null,
    enabledEvents: NOTIFICATION_EVENTS,
    updatedAt,
  };
}

/** Channels that an event is sent through under these settings. */
export function channelsFor(settings: NotificationSettings, type: EventType): Channel[] {
  if (!settings.enabledEvents.some(enabled => enabled === type)) return [];
  const { emailEnabled, emailAddress, messengerEnabled, messengerChatId } = settings;
  return [
    ...(emailEnabled && emailAddress !== null ? (['email'] as const) : []),
    ...(messengerEnabled && messengerChatId !== null ? (['messenger'] as const) : []),
  ];
}
