import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { randomBase62 } from '../../lib/ids.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import { plainLine } from '../../lib/single-line.ts';
import { NotSent, within } from './not-sent.ts';

export interface MailerOptions extends ClockAndLog {
  /** `smtp` is an `smtp://` or `smtps://` address with credentials, `from` an address or `Name <address>`. */
  readonly mail: { readonly smtp: string; readonly from: string } | undefined;
  /** Folder in which mails are written as files when there is no `mail`. */
  readonly folder: string;
}

/** Creates the mailer of a configuration. Nothing is loaded, opened or created before the first mail. */
export function createMailer({ mail, folder, clock, log }: MailerOptions): Mailer {
  if (mail !== undefined) return smtpMailer({ ...mail, clock });
  const absolute = resolve(folder);
  log.info({ folder: absolute }, 'no mail server is configured: mails are written as files');
  return folderMailer({ folder: absolute, clock, log });
}

/** One mail to one person. */
export interface Mail {
  /** Id of the notice. A mail that is sent twice has the same `Message-ID`, so mail programs show it once. */
  readonly id: string;
  /** A bare address. */
  readonly to: string;
  /** A bare address for replies; none when undefined. */
  readonly replyTo?: string | undefined;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends mails, to a server or into a folder. */
export interface Mailer {
  /** Resolves when the mail was accepted. @throws NotSent `refused` or `unavailable` */
  send(mail: Mail): Promise<void>;
  /** Closes open connections. */
  close(): Promise<void>;
}

/** The longest subject, in characters. */
const SUBJECT_LENGTH = 150;
/** Longest address of a recipient. RFC 5321, 4.5.3.1.3. */
const ADDRESS_LENGTH = 254;
/** One address that no parser of headers can read as two, as a name or as the end of a line. */
const ADDRESS = /^[^\s\p{C}<>()[\],;:"\\@]+@[^\s\p{C}<>()[\],;:"\\@]+$/u;

/** A mail for nodemailer. Its headers contain only our own texts and checked addresses. @throws NotSent `refused` */
function composeMessage({ id, to, replyTo, subject, text, html }: Mail, from: string, clock: Clock) {
  if (!ADDRESS.test(to) || to.length > ADDRESS_LENGTH) {
    throw new NotSent(
      'refused',
      `No mail can be sent to ${JSON.stringify(to)}: it is not one e-mail address.`,
    );
  }
  return {
    from,
    // An object is not parsed, so no part of it can become a second recipient.
    to: { name: '', address: to },
    ...(replyTo !== undefined && ADDRESS.test(replyTo) && { replyTo: { name: '', address: replyTo } }),
    subject: plainLine(subject, SUBJECT_LENGTH),
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    date: new Date(clock.now()),
    // Suppresses out-of-office replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function domainOf(from: string): string {
  return /@([0-9A-Za-z.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}

interface SmtpMailerOptions {
  /** `smtp://` or `smtps://` address with credentials. */
  readonly smtp: string;
  readonly from: string;
  readonly clock: Clock;
  /** Timeout of one mail, in milliseconds; 30 s when absent. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
const SILENCE_MS = 10_000;

/**
 * Sends mails over SMTP. The connection pool is opened with the first mail. STARTTLS is used where the server offers
 * it.
 */
export function smtpMailer({ smtp, from, clock, timeoutMs = TIMEOUT_MS }: SmtpMailerOptions): Mailer {
  let opening: ReturnType<typeof openTransport> | undefined;
  return {
    async send(mail) {
      const message = composeMessage(mail, from, clock);
      opening ??= openTransport(smtp);
      const transport = await opening;
      const sending = transport.sendMail(message).catch(error => {
        throw translated(error);
      });
      await within(timeoutMs, sending, 'The mail server');
    },
    close: async () => (await opening)?.close(),
  };
}

/** Connects and signs in to a mail server without sending a mail. @throws NotSent */
export async function checkMailServer(smtp: string, timeoutMs: number): Promise<void> {
  const transport = await openTransport(smtp);
  try {
    const verified = transport.verify().catch(error => {
      throw translated(error);
    });
    await within(timeoutMs, verified, 'The mail server');
  } finally {
    transport.close();
  }
}

async function openTransport(smtp: string) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url: smtp,
    pool: true,
    // The queue of notices retries, with longer delays.
    maxRequeues: 1,
    connectionTimeout: SILENCE_MS,
    greetingTimeout: SILENCE_MS,
    dnsTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/**
 * Translates an error of the mail server. Among permanent refusals (RFC 5321, 4.2.1), only those of the recipient or of
 * the mail itself are final. A refusal of the sender or the credentials ends when the operator corrects the
 * configuration.
 */
function translated(error: unknown): NotSent {
  const { command, responseCode, response, code } = factsOf(error);
  const isPermanent = typeof responseCode === 'number' && responseCode >= 500;
  const isOfMail = command === 'RCPT TO' || command === 'DATA';
  const said = typeof response === 'string' && response !== '' ? plainLine(response) : undefined;
  if (isPermanent && isOfMail) {
    return new NotSent('refused', `The mail server refused the mail: ${said ?? responseCode}`, {
      cause: error,
    });
  }
  const because = said ?? (typeof code === 'string' ? code : 'no connection');
  return new NotSent('unavailable', `The mail server did not take the mail: ${because}`, { cause: error });
}

interface SmtpFacts {
  command?: unknown;
  responseCode?: unknown;
  response?: unknown;
  code?: unknown;
}

function factsOf(error: unknown): SmtpFacts {
  return typeof error === 'object' && error !== null ? error : {};
}

interface FolderMailerOptions extends ClockAndLog {
  /** An absolute path. Created with the first mail, readable for its owner only. */
  readonly folder: string;
}

const FROM = 'tollgate <tollgate@localhost>';

/** Writes mails as `.eml` files, which mail programs open. Their names begin with the time, so they sort by it. */
function folderMailer({ folder, clock, log }: FolderMailerOptions): Mailer {
  return {
    async send(mail) {
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({
        streamTransport: true,
        buffer: true,
        newline: 'windows',
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const { message } = await transport.sendMail(composeMessage(mail, FROM, clock));
      const time = new Date(clock.now()).toISOString().replaceAll(':', '-');
      const file = join(folder, `${time}-${randomBase62(6)}.eml`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        // Renamed when complete, so that no program opens half a mail.
        await writeFile(`${file}.part`, message, { mode: 0o600, flag: 'wx' });
        await rename(`${file}.part`, file);
      } catch (error) {
        throw new NotSent('unavailable', 'The mail could not be written to its folder.', { cause: error });
      }
      log.info({ file }, 'a mail was written');
    },
    close: async () => {},
  };
}
