import { SMTPServer } from 'smtp-server';

/** A mail received over SMTP. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: string[];
  /** Header lines, unfolded, in order. */
  readonly headers: string[];
  /** The whole mail. */
  readonly raw: string;
  /** The decoded parts by type, such as `text/plain`. */
  readonly parts: Readonly<Record<string, string>>;
}

/** Refusals of the server for the next commands; none at first. */
interface SmtpBehaviour {
  /** Answer to RCPT TO, such as `550 no such user`. */
  recipient?: string;
  /** Answer to MAIL FROM. */
  sender?: string;
  /** Answer to the mail itself. */
  mail?: string;
}

export interface SmtpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly mails: ReceivedMail[];
  behaviour: SmtpBehaviour;
  /** Number of currently open connections. */
  connections(): number;
}

/** A real SMTP server on loopback, without encryption and authentication. */
export async function startSmtpReceiver(): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const state: { behaviour: SmtpBehaviour } = { behaviour: {} };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    logger: false,
    onMailFrom: (_, _session, done) => done(refusal(state.behaviour.sender)),
    onRcptTo: (_, _session, done) => done(refusal(state.behaviour.recipient)),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refused = refusal(state.behaviour.mail);
        if (refused !== null) return done(refused);
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push(
          parsedMail(
            Buffer.concat(chunks).toString(),
            from,
            rcptTo.map(({ address }) => address),
          ),
        );
        done();
      });
    },
  });
  // Tests cut connections on purpose.
  server.on('error', () => {});
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    mails,
    get behaviour() {
      return state.behaviour;
    },
    set behaviour(behaviour) {
      state.behaviour = behaviour;
    },
    connections: () => server.connections.size,
    [Symbol.asyncDispose]: () => new Promise<void>(resolve => server.close(() => resolve())),
  };
}

/** A mail's headers, and its parts decoded. */
export function parsedMail(raw: string, from = '', to: string[] = []): ReceivedMail {
  const [head = '', body = ''] = halves(raw);
  const headers = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1];
  const parts = boundary === undefined ? [raw] : body.split(`--${boundary}`).slice(1, -1);
  return {
    from,
    to,
    headers,
    raw,
    parts: Object.fromEntries(parts.map(part => decoded(part.replace(/^\r\n/, '')))),
  };
}

function halves(text: string): [string, string] {
  const end = text.indexOf('\r\n\r\n');
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 4)];
}

function decoded(part: string): [type: string, text: string] {
  const [head, body] = halves(part);
  const type = /content-type:\s*([\w/]+)/i.exec(head)?.[1] ?? 'none';
  const encoding = /content-transfer-encoding:\s*([\w-]+)/i.exec(head)?.[1] ?? '7bit';
  if (encoding === 'base64') return [type, Buffer.from(body, 'base64').toString()];
  if (encoding !== 'quoted-printable') return [type, body];
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return [type, Buffer.from(bytes, 'latin1').toString()];
}

function refusal(line: string | undefined): Error | null {
  if (line === undefined) return null;
  return Object.assign(new Error(line.slice(4)), { responseCode: Number(line.slice(0, 3)) });
}
