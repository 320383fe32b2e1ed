import type { Clock } from '#lib/clock.ts';
import { NotSent } from '../messages/not-sent.ts';
import { plainLine } from '../messages/plain-line.ts';

/** One mail to one person. */
export interface Mail {
  /** Of the notice: a mail that is sent twice has the same `Message-ID`, by which mail programs show it once. */
  readonly id: string;
  /** An address and nothing else. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends mails, to a server or into a folder. */
export interface Mailer {
  /** Resolves when the mail was taken over. @throws NotSent `refused` or `unavailable` */
  send(mail: Mail): Promise<void>;
  /** Ends the connections that are kept open. */
  close(): Promise<void>;
}

/** The longest subject, in characters. */
const SUBJECT_LENGTH = 150;
/** The longest address a mail can go to. RFC 5321, 4.5.3.1.3. */
const ADDRESS_LENGTH = 254;
/** One address, which no reader of headers could take for two, for a name or for a line's end. */
const ADDRESS = /^[^\s\p{C}<>()[\],;:"\\@]+@[^\s\p{C}<>()[\],;:"\\@]+$/u;

/** A mail as nodemailer takes it. Only text of ours and checked addresses get near a header. @throws NotSent `refused` */
export function composeMessage({ id, to, subject, text, html }: Mail, from: string, clock: Clock) {
  if (!ADDRESS.test(to) || to.length > ADDRESS_LENGTH) {
    throw new NotSent(
      'refused',
      `No mail can be sent to ${JSON.stringify(to)}: it is not one e-mail address.`,
    );
  }
  return {
    from,
    // As an object it is not parsed, so there is nothing to be taken for a second recipient.
    to: { name: '', address: to },
    subject: plainLine(subject, SUBJECT_LENGTH),
    text,
    html,
    messageId: `<${id}@${domainOf(from)}>`,
    date: new Date(clock.now()),
    // RFC 3834: nobody's absence is to be told to a machine.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function domainOf(from: string): string {
  return /@([0-9A-Za-z.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}
