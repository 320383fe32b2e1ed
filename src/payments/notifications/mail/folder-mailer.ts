import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Clock } from '#lib/clock.ts';
import { randomBase62 } from '#lib/ids.ts';
import type { Logger } from '#lib/logger.ts';
import { NotSent } from '../messages/not-sent.ts';
import { composeMessage, type Mailer } from './mail.ts';

export interface FolderMailerOptions {
  /** An absolute path; created, for nobody else to look into, with the first mail. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const FROM = 'tollgate <tollgate@localhost>';

/** Mails as `.eml` files, which mail programs open. Names begin with the time, so that they sort by it. */
export function folderMailer({ folder, clock, log }: FolderMailerOptions): Mailer {
  const transport = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send(mail) {
      const { message } = await transport.sendMail(composeMessage(mail, FROM, clock));
      const time = new Date(clock.now()).toISOString().replaceAll(':', '-');
      const file = join(folder, `${time}-${randomBase62(6)}.eml`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        // Renamed when it is whole, so that nobody opens half a mail.
        await writeFile(`${file}.part`, message, { mode: 0o600, flag: 'wx' });
        await rename(`${file}.part`, file);
      } catch (error) {
        throw new NotSent('unavailable', 'The mail could not be written into its folder.', { cause: error });
      }
      log.info({ file }, 'a mail was written');
    },
    close: async () => {},
  };
}
