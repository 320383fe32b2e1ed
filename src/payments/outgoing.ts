import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { DisableAfterMs } from './model/webhook.ts';
import { createMailer, type Mailer, type MailerOptions } from './notifications/mailers.ts';
import type { Messenger, MessengerOptions } from './notifications/messenger.ts';
import { type ReceiverRules, type WebhookSender, webhookSender } from './webhooks/sender.ts';

/** Settings of webhooks, mails and messages to merchants. */
export interface OutgoingOptions {
  readonly webhooks: ReceiverRules & {
    /** Most deliveries in flight per webhook in this process. */
    readonly concurrencyPerEndpoint: number;
    /** Least time of failing until a webhook is disabled; `DISABLE_AFTER_MS` when absent. */
    readonly disableAfterMs?: DisableAfterMs | undefined;
  };
  /** The mail server and the sender; undefined writes mails as files. */
  readonly mail: MailerOptions['mail'];
  readonly mailFolder: string;
  /** The bot; undefined disables the channel. */
  readonly messenger: MessengerOptions | undefined;
}

/** Open channels to merchants. */
export interface OutgoingChannels {
  readonly webhooks: OutgoingOptions['webhooks'];
  readonly sender: WebhookSender;
  readonly mailer: Mailer;
  /** False when mails are written as files. */
  readonly hasMailServer: boolean;
  readonly messenger: Messenger | undefined;
  /** Aborts requests and mails in flight. */
  close(): Promise<void>;
}

/** Opens the channels. Logs a warning when webhooks may reach more than https on public addresses. */
export async function openOutgoing(
  options: OutgoingOptions,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<OutgoingChannels> {
  const { webhooks, mail, mailFolder } = options;
  const { allowedNetworks, allowHttp, keptNetworks = [] } = webhooks;
  if (allowedNetworks.length > 0 || allowHttp) {
    log.warn({ allowedNetworks, allowHttp }, 'webhooks may reach more than https on public addresses');
  }
  const messenger = options.messenger && (await openMessenger(options.messenger));
  const sender = webhookSender({ allowedNetworks, allowHttp, keptNetworks, log });
  const mailer = createMailer({ mail, folder: mailFolder, clock, log });
  return {
    webhooks,
    sender,
    mailer,
    hasMailServer: mail !== undefined,
    messenger,
    close: async () => void (await Promise.all([sender.close(), mailer.close()])),
  };
}

/** Loads the bot's library only when a bot is configured. */
async function openMessenger(options: MessengerOptions): Promise<Messenger> {
  const { createMessenger } = await import('./notifications/messenger.ts');
  return createMessenger(options);
}
