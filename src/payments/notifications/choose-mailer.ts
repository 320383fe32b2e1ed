import { resolve } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { folderMailer } from './mail/folder-mailer.ts';
import type { Mailer } from './mail/mail.ts';
import { smtpMailer } from './mail/smtp-mailer.ts';

export interface MailerOptions {
  /** `smtp` is an `smtp://` or `smtps://` address with the credentials, `from` an address or `Name <address>`. */
  readonly mail: { readonly smtp: string; readonly from: string } | undefined;
  /** Where mails are written as files when there is no `mail`. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The mailer that a configuration asks for. Nothing is opened or created before the first mail. */
export function createMailer({ mail, folder, clock, log }: MailerOptions): Mailer {
  if (mail !== undefined) return smtpMailer({ ...mail, clock });
  const absolute = resolve(folder);
  log.info({ folder: absolute }, 'no mail server is configured: mails are written as files');
  return folderMailer({ folder: absolute, clock, log });
}
