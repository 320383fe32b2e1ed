import type { Db } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import {
  attentionChannels,
  type Channel,
  channelsFor,
  customerAddress,
  type NoticePayload,
  type NotificationSettings,
} from '../model/notification.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import type { Seals } from '../secrets/sealed.ts';
import { organizationStore } from '../store/organization-store.ts';
import { disableChat } from './chat-linking.ts';
import type { Mailer } from './mailers.ts';
import type { Messenger } from './messenger.ts';
import { NotSent } from './not-sent.ts';
import { orderIn } from './store/notice-order.ts';
import { type NoticeOutcome, noticeQueue, type TakenNotice } from './store/notice-store.ts';
import { notificationStore } from './store/notification-store.ts';
import { mailOf, messageOf, noticeContent } from './texts.ts';

export interface NotifierDeps extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
  readonly chains: PaymentChains;
  /** Base URL of the dashboard, without a slash at the end. Without it, mails name no page. */
  readonly publicUrl?: string | undefined;
  readonly mailer: Mailer;
  /** Undefined when no bot is configured. */
  readonly messenger: Messenger | undefined;
  /** Called with the result of sending a notice. */
  readonly onOutcome?: ((channel: Channel, status: NoticeOutcome['status']) => void) | undefined;
}

/** Notices per batch, as many as the mailer has connections, so that all are sent before their lease ends. */
const BATCH = 5;

/**
 * Sends due notices, with one worker per channel so that slow mails never delay a message. Delivery is at least once: a
 * notice whose result was not recorded is sent again. Any number of processes may run it.
 */
export function notifiers(deps: NotifierDeps): readonly Worker[] {
  return [notifier('email', deps), notifier('messenger', deps)];
}

function notifier(
  channel: Channel,
  { db, seals, clock, chains, publicUrl, mailer, messenger, log, onOutcome }: NotifierDeps,
): Worker {
  const queue = noticeQueue({ db, seals, clock, log });
  /** Times (UTC milliseconds) until which the messenger accepts no message for a chat. */
  const quietUntil = new Map<string, number>();

  return {
    name: `${channel} notifier`,
    async runOnce() {
      const notices = await queue.take(channel, BATCH);
      for (const [chat, until] of quietUntil) if (until <= clock.now()) quietUntil.delete(chat);
      await Promise.all(
        notices.map(async notice => {
          const outcome = await outcomeOf(notice);
          await queue.settle(notice, outcome);
          onOutcome?.(channel, outcome.status);
        }),
      );
      return notices.length;
    },
  };

  async function outcomeOf(notice: TakenNotice): Promise<NoticeOutcome> {
    try {
      await send(notice);
      return { status: 'sent', error: null, nextAttemptAt: null };
    } catch (error) {
      // Any other error is ours or the database's, and a retry may succeed as after an outage.
      const failure =
        error instanceof NotSent
          ? error
          : new NotSent('unavailable', 'The notification could not be written.');
      const nextAttemptAt = nextTry(notice, failure, clock.now());
      log.warn({ err: error, notice: notice.id, channel, nextAttemptAt }, 'a notification was not sent');
      return {
        status: nextAttemptAt === null ? 'failed' : 'pending',
        error: failure.message,
        nextAttemptAt,
      };
    }
  }

  async function send({ id, organizationId, mode, payload }: TakenNotice): Promise<void> {
    const owner = { organizationId, mode };
    const settings = await notificationStore(db).find(owner);
    if (settings === undefined) throw new Error('a notice without an organization');
    const target = targetOf(settings, payload);
    if (target === null) throw new NotSent('refused', 'This channel was switched off in the meantime.');
    const profile = await organizationStore(db).profile(owner);
    const merchant = { name: profile.name, mode, contact: profile };
    const order = await orderIn(db, payload);
    const content = noticeContent(payload, merchant, { chains, publicUrl, order });
    if (channel === 'email') await mailer.send(mailOf(content, { id, to: target }));
    else await message(target, messageOf(content));
  }

  async function message(chatId: string, text: string): Promise<void> {
    if (messenger === undefined) throw new NotSent('refused', 'A bot is no longer configured.');
    const waitMs = (quietUntil.get(chatId) ?? 0) - clock.now();
    if (waitMs > 0)
      throw new NotSent('unavailable', 'The messenger accepts no message for this chat yet.', {
        retryAfterMs: waitMs,
      });
    try {
      await messenger.send(chatId, text);
    } catch (error) {
      if (error instanceof NotSent && error.retryAfterMs !== undefined) {
        quietUntil.set(chatId, clock.now() + error.retryAfterMs);
      }
      if (error instanceof NotSent && error.kind === 'blocked') {
        await transaction(db, handle => disableChat(handle, chatId, clock.now()));
      }
      throw error;
    }
  }

  /**
   * The target of a notice under the current settings; null for none. The mails about a webhook, the recipients and
   * unswept money, and with a link for the payer or a member, are sent even when mails are off.
   */
  function targetOf(settings: NotificationSettings, payload: NoticePayload): string | null {
    const { emailAddress, messengerChatId } = settings;
    const address = channel === 'email' ? emailAddress : messengerChatId;
    if (payload.kind === 'webhook_failing' || payload.kind === 'webhook_disabled') return address;
    if (payload.kind === 'unswept') return address;
    if ('email' in payload) return payload.email;
    if (payload.kind === 'customer') return customerAddress(settings, payload.event);
    const channels =
      payload.kind === 'attention'
        ? payload.events.flatMap(event => attentionChannels(settings, event))
        : channelsFor(settings, payload.event.type);
    return channels.includes(channel) ? address : null;
  }
}

/** Delays before the second and later attempts, in milliseconds. A mail is tried five times (Decision 128). */
export const MAIL_WAITS_MS = [60_000, 5 * 60_000, 30 * 60_000, 2 * 3_600_000] as const;
/** Delays for a message when the messenger names none. Retries end with `MESSAGE_LIFETIME_MS`. */
const MESSAGE_WAITS_MS = [5_000, 30_000, 2 * 60_000, 10 * 60_000] as const;
/** Age in milliseconds from which a message about a payment is no longer useful. */
export const MESSAGE_LIFETIME_MS = DAY_MS;

/** Time of the next attempt after a failure, in UTC milliseconds; null for none. */
function nextTry(
  notice: { readonly channel: Channel; readonly attempts: number; readonly createdAt: number },
  { kind, retryAfterMs }: Pick<NotSent, 'kind' | 'retryAfterMs'>,
  now: number,
): number | null {
  if (kind !== 'unavailable') return null;
  const { channel, attempts, createdAt } = notice;
  if (channel === 'email') {
    const wait = MAIL_WAITS_MS[attempts - 1];
    return wait === undefined ? null : now + wait;
  }
  if (now - createdAt >= MESSAGE_LIFETIME_MS) return null;
  return now + (retryAfterMs ?? MESSAGE_WAITS_MS[attempts - 1] ?? MESSAGE_WAITS_MS[3]);
}
