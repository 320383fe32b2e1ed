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
