import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { EventType, PaymentEvent } from './event.ts';
import type { Owner } from './owner.ts';

/** What people can be told about. Document 3, "Events". */
export type NotificationEvent = PaymentsSchemas['NotificationEvent'];
export type Channel = 'email' | 'messenger';

export const NOTIFICATION_EVENTS = [
  'payment.completed',
  'payment.failed',
  'checkout.completed',
] as const satisfies readonly NotificationEvent[];

/** Who is told about the payments of an organization and mode, and how. */
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

/** What a person is told. */
export type NoticePayload =
  | { readonly kind: 'payment'; readonly event: PaymentEvent }
  | {
      readonly kind: 'webhook_disabled';
      readonly webhookId: string;
      readonly url: string;
      /** UTC milliseconds. */
      readonly disabledAt: number;
    };

/** One message to a person. Whom it goes to is in the settings when it is sent. */
export interface Notice extends Owner {
  readonly id: string;
  readonly channel: Channel;
  readonly payload: NoticePayload;
  /** Tries that have begun. */
  readonly attempts: number;
  /** UTC milliseconds. */
  readonly createdAt: number;
}

/** The settings that are in force until they are changed. Decision 126. */
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

/** The channels by which an event is told under these settings. */
export function channelsFor(settings: NotificationSettings, type: EventType): Channel[] {
  if (!settings.enabledEvents.some(enabled => enabled === type)) return [];
  const { emailEnabled, emailAddress, messengerEnabled, messengerChatId } = settings;
  return [
    ...(emailEnabled && emailAddress !== null ? (['email'] as const) : []),
    ...(messengerEnabled && messengerChatId !== null ? (['messenger'] as const) : []),
  ];
}
