import { readEnvironment } from '#config/environment.ts';
import { readArguments, UsageError } from '#lib/command-line.ts';
import { API_OPTIONS, placeOf } from '../api/client.ts';

export const USAGE = `Usage: tollgate listen --forward-to ADDRESS [options]

Forwards the events of a payments server to your receiver, signed like those of a webhook. It polls the server, so it
works behind any firewall and needs no webhook. Set TOLLGATE_KEY to an API key; read permission is enough.

  --forward-to ADDRESS your receiver, such as http://localhost:8080/hook
  --since TIME         also send past events from this time: 2031-01-01T00:00:00Z; only new ones when absent
  --url ADDRESS        the server; http://127.0.0.1:3001 when absent
  --key KEY            the API key in place of TOLLGATE_KEY, visible to every user of this machine
  --secret SECRET      the secret in place of TOLLGATE_WEBHOOK_SECRET, likewise visible
  --help               print this

TOLLGATE_WEBHOOK_SECRET is the whsec_… to sign with. When it is not set, each run signs with a new one.
Each event is sent once, one after the other, in the order in which they occurred. An event that is refused is sent
again after 1, 3 and 9 seconds, and then skipped. Ctrl+C ends it.
Exits with 2 when the command is not understood, and with 1 when the server refuses the key.
`;

/** A parsed command. `url` has no trailing slash. */
export interface Command {
  readonly url: string;
  readonly key: string;
  readonly forwardTo: string;
  /** UTC milliseconds; undefined for now. */
  readonly since: number | undefined;
  readonly secret: string | undefined;
}

/** A date, or a date and a time with its zone, in the form that `Date.parse` reads. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;
/** Secret of the Standard Webhooks specification: 24 to 64 bytes in Base64. */
const SECRET = /^whsec_[0-9A-Za-z+/]{32,86}={0,2}$/;

const OPTIONS = {
  ...API_OPTIONS,
  'forward-to': { type: 'string' },
  since: { type: 'string' },
  secret: { type: 'string' },
} as const;

/** Reads the arguments; undefined when they request help. @throws UsageError */
export function readCommand(args: readonly string[]): Command | undefined {
  const { values } = readArguments(args, { options: OPTIONS });
  if (values.help === true) return undefined;
  const { since, secret = readEnvironment().webhookSecret, 'forward-to': forwardTo } = values;
  const place = placeOf(values);
  if (forwardTo === undefined) throw new UsageError('--forward-to is missing');
  if (!isAddress(forwardTo)) throw new UsageError('--forward-to takes the address of a receiver');
  if (!isAddress(place.url)) throw new UsageError('--url takes the address of a server');
  const time = since === undefined ? undefined : timeOf(since);
  if (Number.isNaN(time)) throw new UsageError('--since takes a time such as 2031-01-01T00:00:00Z');
  if (secret !== undefined && !SECRET.test(secret))
    throw new UsageError('the secret of the webhook must begin with whsec_');
  return { ...place, forwardTo, since: time, secret };
}

function timeOf(text: string): number {
  return TIME.test(text) ? Date.parse(text) : Number.NaN;
}

/** True for an HTTP address without user information. Webhooks refuse user information, too. */
function isAddress(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
