import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { type EventData, type EventType, isMispaidType, type PaymentEvent } from './event.ts';
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
  /** True when both channels also notify about money that needs a decision (Decision 357). */
  readonly attention: boolean;
  /** True when payers who left an e-mail address get mails (Decision 358). */
  readonly customerEmails: boolean;
  /** UTC milliseconds. */
  readonly updatedAt: number;
}

/** A change of where payments can go (Decision 138). */
export type RecipientChange =
  | { readonly kind: 'added' | 'removed'; readonly chainId: number; readonly address: string }
  | { /** Of the list. */ readonly kind: 'locked' | 'unlocked' }
  | {
      /** Address that payments go to when nothing else is said. */ readonly kind: 'default';
      readonly to: string | null;
    }
  | { /** Of mails such as these. */ readonly kind: 'email_address'; readonly to: string | null };

/** A change of who is a member of an organization (Decision 417). */
export interface MemberChange {
  readonly kind: 'invited' | 'changed' | 'removed';
  readonly name: string;
  /** Name of the role, for people. */
  readonly role: string;
  /** Name of the owner who made the change. */
  readonly by: string;
}

/** A new key whose holder can decide where money goes (Decision 413). */
interface DecidingKey {
  readonly name: string;
  readonly permission: 'write' | 'admin';
  /** Name of the member or key that made it. */
  readonly by: string;
}

/** Content of a notice. */
export type NoticePayload =
  | { readonly kind: 'payment'; readonly event: PaymentEvent }
  | { /** A mail to the payer. */ readonly kind: 'customer'; readonly event: PaymentEvent }
  | {
      /** Money that needs a decision, oldest first. */
      readonly kind: 'attention';
      readonly events: readonly PaymentEvent[];
      /** Number of further events. */
      readonly more: number;
    }
  | {
      /** A mail with a link through which the payer states the address of a refund. */
      readonly kind: 'refund_link';
      readonly email: string;
      /** Address of the checkout's page with the token. */
      readonly url: string;
      /** Name of what was paid. */
      readonly product: string | null;
      /** Language of the payer; absent when it is not known. */
      readonly language?: string | undefined;
      /** UTC milliseconds. */
      readonly expiresAt: number;
    }
  | {
      /** A mail with a one-time address that signs a member in. */
      readonly kind: 'sign_in';
      readonly email: string;
      readonly url: string;
      /** Name of the owner who invites the member; null when the member asked for the mail. */
      readonly inviter: string | null;
      /** UTC milliseconds. */
      readonly expiresAt: number;
    }
  | {
      /** A mail to an owner. */
      readonly kind: 'members_changed';
      readonly email: string;
      readonly change: MemberChange;
      /** UTC milliseconds. */
      readonly changedAt: number;
    }
  | {
      /** A mail to an owner. */
      readonly kind: 'key_created';
      readonly email: string;
      readonly key: DecidingKey;
      /** UTC milliseconds. */
      readonly createdAt: number;
    }
  | {
      /** A mail to a member. */
      readonly kind: 'passkey_changed';
      readonly email: string;
      readonly change: 'added' | 'removed';
      /** Name of the passkey. */
      readonly name: string;
      /** UTC milliseconds. */
      readonly changedAt: number;
    }
  | {
      readonly kind: 'recipients_changed';
      /** Address that was set before the change. */
      readonly email: string;
      readonly change: RecipientChange;
      /** UTC milliseconds. */
      readonly changedAt: number;
    }
  | {
      readonly kind: 'unswept';
      readonly chainId: number;
      readonly tokenAddress: string;
      /** Amount on deposit addresses, and the most that may be there, in smallest units. */
      readonly unswept: string;
      readonly limit: string;
      /** UTC milliseconds. */
      readonly noticedAt: number;
    }
  | {
      readonly kind: 'webhook_failing';
      readonly webhookId: string;
      readonly url: string;
      /** End of the first of the failed attempts, in UTC milliseconds. */
      readonly failingSince: number;
    }
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
    attention: true,
    customerEmails: false,
    updatedAt,
  };
}

/** Channels that an event is sent through under these settings. */
export function channelsFor(settings: NotificationSettings, type: EventType): Channel[] {
  return settings.enabledEvents.some(enabled => enabled === type) ? openChannels(settings) : [];
}

/** Channels that collect an event about money that needs a decision. */
export function attentionChannels(settings: NotificationSettings, event: PaymentEvent): Channel[] {
  return settings.attention && needsDecision(event) ? openChannels(settings) : [];
}

function needsDecision({ type, data }: PaymentEvent): boolean {
  if (type === 'transfer.unmatched' || isMispaidType(type)) return true;
  return type === 'refund.failed' && isRefund(data) && data.failure_reason !== 'cancelled';
}

/** True for the data of an event about a refund. */
export function isRefund(data: EventData): data is EventData<'refund.failed'> {
  return 'destination_address' in data;
}

/** Events with a mail to the payer. */
const CUSTOMER_EVENTS: readonly EventType[] = [
  'checkout.completed',
  'checkout.expired',
  'checkout.paid_late',
  'checkout.overpaid',
  'checkout.partially_paid',
  'refund.created',
  'refund.completed',
  'refund.failed',
];
/** Failures of refunds that make an earlier mail to the payer untrue (Decision 367). */
const MAILED_FAILURES: readonly (string | null)[] = ['reorged', 'cancelled', 'expired'];

/** Address of the payer who gets a mail about an event; null for none. */
export function customerAddress(
  { customerEmails }: NotificationSettings,
  { type, data }: PaymentEvent,
): string | null {
  if (!customerEmails || !CUSTOMER_EVENTS.includes(type)) return null;
  // Other ends are no news for a payer, and a payment after the last one has an event of its own (Decision 361).
  if (type === 'checkout.expired' && data.checkoutSession?.outcome !== 'sold_out') return null;
  if (type === 'refund.failed' && isRefund(data) && !MAILED_FAILURES.includes(data.failure_reason))
    return null;
  return data.checkoutSession?.customerEmail ?? null;
}

/** Channels that are on and have a target. */
function openChannels(settings: NotificationSettings): Channel[] {
  const { emailEnabled, emailAddress, messengerEnabled, messengerChatId } = settings;
  return [
    ...(emailEnabled && emailAddress !== null ? (['email'] as const) : []),
    ...(messengerEnabled && messengerChatId !== null ? (['messenger'] as const) : []),
  ];
}
