import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { createMailer, type Mailer, type MailerOptions } from './notifications/mailers.ts';
import type { Messenger, MessengerOptions } from './notifications/messenger.ts';
import { type ReceiverRules, type WebhookSender, webhookSender } from './webhooks/sender.ts';

/** How merchants are told what happened. */
export interface OutgoingOptions {
  readonly webhooks: ReceiverRules & {
    /** Deliveries that one webhook gets from this process at a time. */
    readonly concurrencyPerEndpoint: number;
  };
  /** The mail server and the sender; undefined writes mails as files. */
  readonly mail: MailerOptions['mail'];
  readonly mailFolder: string;
  /** The bot; undefined switches that channel off. */
  readonly messenger: MessengerOptions | undefined;
}

/** What sends it. */
export interface OutgoingChannels {
  readonly webhooks: OutgoingOptions['webhooks'];
  readonly sender: WebhookSender;
  readonly mailer: Mailer;
  readonly messenger: Messenger | undefined;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

/** Opens the ways out. What the operator allows beyond https to public addresses is said in the log. */
export async function openOutgoing(
  options: OutgoingOptions,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<OutgoingChannels> {
  const { webhooks, mail, mailFolder } = options;
  const { allowedNetworks, allowHttp } = webhooks;
  if (allowedNetworks.length > 0 || allowHttp) {
    log.warn({ allowedNetworks, allowHttp }, 'webhooks may reach more than https on public addresses');
  }
  const messenger = options.messenger && (await openMessenger(options.messenger));
  const sender = webhookSender({ allowedNetworks, allowHttp, log });
  const mailer = createMailer({ mail, folder: mailFolder, clock, log });
  return {
    webhooks,
    sender,
    mailer,
    messenger,
    close: async () => void (await Promise.all([sender.close(), mailer.close()])),
  };
}

/** The bot, whose library is loaded only where there is one. */
async function openMessenger(options: MessengerOptions): Promise<Messenger> {
  const { createMessenger } = await import('./notifications/messenger.ts');
  return createMessenger(options);
}
