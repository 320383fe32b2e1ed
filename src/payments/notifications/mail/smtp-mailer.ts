import { createTransport } from 'nodemailer';
import type { Clock } from '#lib/clock.ts';
import { NotSent, within } from '../messages/not-sent.ts';
import { plainLine } from '../messages/plain-line.ts';
import { composeMessage, type Mailer } from './mail.ts';

export interface SmtpMailerOptions {
  /** `smtp://` or `smtps://`, with the credentials. */
  readonly smtp: string;
  readonly from: string;
  readonly clock: Clock;
  /** How long one mail may take, in milliseconds; 30 s when absent. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
const SILENCE_MS = 10_000;

/** Mails over SMTP, by a pool of connections that is opened with the first one. STARTTLS is used where it is offered. */
export function smtpMailer({ smtp, from, clock, timeoutMs = TIMEOUT_MS }: SmtpMailerOptions): Mailer {
  const transport = createTransport({
    url: smtp,
    pool: true,
    // Whoever queues mails tries again, and less often.
    maxRequeues: 1,
    connectionTimeout: SILENCE_MS,
    greetingTimeout: SILENCE_MS,
    dnsTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      const message = composeMessage(mail, from, clock);
      const sending = transport.sendMail(message).catch(error => {
        throw translated(error);
      });
      await within(timeoutMs, sending, 'The mail server');
    },
    close: async () => transport.close(),
  };
}

/**
 * Of a permanent refusal (RFC 5321, 4.2.1) only that of the recipient or of the mail itself is for good: one of the
 * sender or of the credentials ends when the operator has repaired them.
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
