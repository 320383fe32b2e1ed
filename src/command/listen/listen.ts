import { readEnvironment } from '#config/environment.ts';
import { systemLookup } from '#http/fetch/connect.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { createLogger } from '#lib/logger.ts';
import { newWebhookSecret } from '#payments/model/webhook.ts';
import { webhookSender } from '#payments/webhooks/sender.ts';
import { API_OPTIONS, apiClient, apiServerOf, URL_HELP } from '../api/client.ts';
import { type EventFeed, eventFeed, type NotAnswered } from './event-feed.ts';
import { type ForwardAttempt, type ForwarderOptions, forwarder } from './forwarder.ts';

/**
 * Forwards the events of a running payments server to a receiver, signed like deliveries of a webhook.
 * @throws UsageError, or Refused when the server refuses
 */
export async function runListen(args: readonly string[]): Promise<void> {
  const command = readListenCommand(args);
  if (command === undefined) process.stdout.write(USAGE);
  else await forward(command);
}

async function forward({ url, key, forwardTo, since, secret = newWebhookSecret() }: Command): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort());
  const clock = systemClock;
  // The user of this command may send to any address, including local names of the hosts file.
  const sender = webhookSender({
    allowedNetworks: ['0.0.0.0/0', '::/0'],
    allowHttp: true,
    lookup: systemLookup,
    log: createLogger({ level: 'silent' }),
  });
  signal.addEventListener('abort', () => void sender.close(), { once: true });
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  say(`Secret: ${secret}`);
  try {
    const feed = eventFeed({ client: apiClient({ url, key, signal }), since, clock, signal });
    const ended = await forwardEvents({ feed, since, sender, clock, forwardTo, secret, say, signal });
    if (ended !== undefined) throw new Refused(ended.refusal);
  } catch (error) {
    if (error !== signal.reason && !(signal.aborted && isAbort(error))) throw error;
  } finally {
    await sender.close();
  }
}

/** Recognizes an aborted timer: Node's timers wrap the reason of the signal. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

interface ListenOptions extends Omit<ForwarderOptions, 'onAttempt'> {
  readonly feed: EventFeed;
  /** Start of the feed in UTC milliseconds; undefined for events after its first poll. */
  readonly since: number | undefined;
  /** Prints a line for people, given without a line break. */
  readonly say: (line: string) => void;
}

const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** Forwards events until the signal aborts. Waits through outages, and returns the reason when the server refuses. */
export async function forwardEvents(options: ListenOptions): Promise<{ refusal: string } | undefined> {
  const { feed, since, forwardTo, clock, say, signal } = options;
  const begin = since === undefined ? 'now' : new Date(since).toISOString();
  let hasBegun = false;
  const forward = forwarder({ ...options, onAttempt: attempt => say(lineOf(attempt, clock)) });
  for (let failures = 0; ; ) {
    const looked = await feed.look();
    if (signal.aborted) return undefined;
    if ('events' in looked) {
      if (!hasBegun) say(`Forwarding events from ${begin} on to ${forwardTo}. Ctrl+C ends it.`);
      else if (failures > 0) say('The server answers again.');
      hasBegun = true;
      failures = 0;
      for (const event of looked.events) {
        await forward(event);
        if (signal.aborted) return undefined;
      }
    } else {
      if (!mayPass(looked)) return { refusal: looked.message };
      if (failures === 0) say(`${looked.message} Retrying until it does.`);
      failures += 1;
    }
    await clock.sleep(Math.min(PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
  }
}

/** True for a temporary failure, such as a starting server or an unreachable upstream; false for a wrong key. */
function mayPass(reply: NotAnswered): boolean {
  return reply.kind === 'away' || reply.status >= 500;
}

function lineOf(
  { event, isSuccess, responseCode, responseTimeMs, error, againInMs }: ForwardAttempt,
  clock: Clock,
): string {
  const time = new Date(clock.now()).toISOString().slice(11, 23);
  const came = responseCode === null ? 'no answer' : `${responseCode} in ${responseTimeMs} ms`;
  const next = againInMs === undefined ? 'Given up.' : `Again in ${againInMs / 1_000} s.`;
  return [time, event.event, event.id, came, ...(isSuccess ? [] : [`${error} ${next}`])].join('  ');
}

const USAGE = `Usage: tollgate listen --forward-to ADDRESS [options]

Forwards the events of a payments server to your receiver, signed like those of a webhook. It polls the server, so it
works behind any firewall and needs no webhook. Set TOLLGATE_KEY to an API key; read permission is enough.

  --forward-to ADDRESS your receiver, such as http://localhost:8080/hook
  --since TIME         also send past events from this time: 2031-01-01T00:00:00Z; only new ones when absent
  --url ADDRESS        ${URL_HELP}
  --key KEY            the API key in place of TOLLGATE_KEY, visible to every user of this machine
  --secret SECRET      the secret in place of TOLLGATE_WEBHOOK_SECRET, likewise visible
  --help               print this

TOLLGATE_WEBHOOK_SECRET is the whsec_… to sign with. When it is not set, each run signs with a new one.
Each event is sent once, one after the other, in the order in which they occurred. An event that is refused is sent
again after 1, 3 and 9 seconds, and then skipped. Ctrl+C ends it.
Exits with 2 when the command is not understood, and with 1 when the server refuses the key.
`;

/** A parsed command. `url` has no trailing slash. */
interface Command {
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
export function readListenCommand(args: readonly string[]): Command | undefined {
  const { values } = readArguments(args, { options: OPTIONS });
  if (values.help === true) return undefined;
  const { since, secret = readEnvironment().webhookSecret, 'forward-to': forwardTo } = values;
  const server = apiServerOf(values);
  if (forwardTo === undefined) throw new UsageError('--forward-to is missing');
  if (!isAddress(forwardTo)) throw new UsageError('--forward-to takes the address of a receiver');
  if (!isAddress(server.url)) throw new UsageError('--url takes the address of a server');
  const time = since === undefined ? undefined : timeOf(since);
  if (Number.isNaN(time)) throw new UsageError('--since takes a time such as 2031-01-01T00:00:00Z');
  if (secret !== undefined && !SECRET.test(secret))
    throw new UsageError('the secret of the webhook must begin with whsec_');
  return { ...server, forwardTo, since: time, secret };
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
