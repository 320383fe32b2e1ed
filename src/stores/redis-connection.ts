import { constants } from 'node:os';
import {
  ConnectionTimeoutError,
  createClient,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
} from '@redis/client';
import { inTime, Late } from '../lib/in-time.ts';
import { CannotStart, reasonOf } from '../lib/startup-error.ts';
import type { StoreFailures } from './store-failures.ts';

export interface RedisOptions {
  /** `redis://user:password@host:port/database`, or `rediss://` with TLS. */
  readonly url: string;
  /** As it reads in a sentence: `Redis of the cache`. */
  readonly title: string;
  /** Path of the setting that names the server. */
  readonly setting: string;
  /** Hears of a connection that breaks and of each vain attempt to connect again. */
  readonly failures: StoreFailures;
  /** Interval of the pings; a second when absent. */
  readonly pingEveryMs?: number;
}

export type RedisClient = ReturnType<typeof clientOf>;

/** A connection that is made again whenever it breaks. While there is none, every command fails at once. */
export interface RedisConnection {
  readonly client: RedisClient;
  /** Reopens the connection, for example after a reply that belongs to another command. Pending commands fail. */
  renew(reason: unknown): void;
  /** Ends the connection, or the attempt to make it. Another call does nothing. */
  close(): void;
}

const CONNECT_MS = 2_000;
/** Longest wait at the start, after which the process goes on without the server. */
const START_MS = 2_000;
/** Longest silence during the handshake. */
const SILENCE_MS = 5_000;
const PING_EVERY_MS = 1_000;
/** Consecutive pings without a reply after which the connection is reopened. */
const MOST_UNANSWERED = 5;
/** Commands that wait for a server which does not answer; more fail at once. */
const MOST_WAITING = 1_000;
/** Key of the write at the start, which expires at once. */
const PROBE = 'tollgate:start';
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;

/**
 * Connects to a Redis. A server that is out of reach is reported, and tried again in the background.
 * @throws CannotStart when a server refuses the connection or is no Redis: what its setting says is wrong
 */
export async function openRedis(options: RedisOptions): Promise<RedisConnection> {
  const { failures } = options;
  const first = Promise.withResolvers<never>();
  let isStarting = true;
  const closing = new AbortController();
  const client = clientOf(options, closing.signal);
  const renew = (reason: unknown) => {
    if (!client.isReady) return; // it is being reopened already
    failures.report(withoutPassword(reason, options.url));
    client.destroy();
    client.connect().catch(() => undefined); // every failed attempt is an event
  };
  client.on('error', (error: unknown) => {
    if (closing.signal.aborted) return;
    if (isStarting) first.reject(error);
    // An error of the socket has ended the connection. After one of the decoder, no reply would ever be read again.
    else if (client.isReady) renew(error);
    else failures.report(withoutPassword(error, options.url));
  });
  try {
    // A write shows what a greeting does not: a user without rights, or a copy that may only be read.
    const answered = client.connect().then(() => client.set(PROBE, '', { PX: 1 }));
    answered.catch(() => undefined); // heard of below, or as an event
    await inTime(Promise.race([answered, first.promise]), START_MS);
  } catch (error) {
    const shown = withoutPassword(error, options.url);
    if (!isOutage(error)) {
      client.destroy();
      throw new CannotStart(`The ${options.title} cannot be used`, refusalOf(shown), options.setting);
    }
    failures.report(shown);
  }
  isStarting = false;
  const stopPings = watchReplies(client, { renew, pingEveryMs: options.pingEveryMs ?? PING_EVERY_MS });
  return {
    client,
    renew,
    close() {
      if (closing.signal.aborted) return;
      stopPings();
      client.destroy();
      closing.abort(); // the client does not know a socket that is still connecting
    },
  };
}

/**
 * Reopens a connection whose server stops replying, or whose replies belong to other commands. The socket's own timeout
 * restarts with every write, so it never fires while there is traffic. Returns the function that ends the pings.
 */
function watchReplies(
  client: RedisClient,
  { renew, pingEveryMs }: { renew: RedisConnection['renew']; pingEveryMs: number },
): () => void {
  let sent = 0;
  let unanswered = 0;
  client.on('ready', () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    if (!client.isReady) return;
    if (unanswered >= MOST_UNANSWERED) return renew(new SocketTimeoutError(unanswered * pingEveryMs));
    unanswered += 1;
    sent += 1;
    void ping(String(sent));
  }, pingEveryMs);
  timer.unref();
  return () => clearInterval(timer);

  async function ping(word: string): Promise<void> {
    try {
      const reply = await client.ping(word);
      if (reply === word) unanswered = 0;
      else renew(new Error('a reply belongs to another command'));
    } catch (error) {
      if (error instanceof ErrorReply) unanswered = 0;
    }
  }
}

/** A client whose sockets end with the signal. */
function clientOf({ url, title, setting }: RedisOptions, signal: AbortSignal) {
  try {
    return createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MOST_WAITING,
      socket: {
        connectTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        signal,
        reconnectStrategy: retries =>
          signal.aborted ? false : Math.min(FIRST_RETRY_MS * 2 ** retries, LONGEST_RETRY_MS),
      },
    });
  } catch {
    // Its own message may repeat the address.
    throw new CannotStart(`The ${title} cannot be used`, 'its address cannot be read', setting);
  }
}

/** What a server says that will answer soon. Source: the sources of Redis 7, `shared` in server.c, and networking.c. */
const PASSING =
  /^(LOADING|BUSY|MASTERDOWN|READONLY|OOM|MISCONF|TRYAGAIN|CLUSTERDOWN|ERR max number of clients)/;

/** True when the server is out of reach or busy. Everything else stays as it is until somebody changes a setting. */
function isOutage(error: unknown): boolean {
  if (error instanceof ErrorReply) return PASSING.test(error.message);
  // One error for each address of the host.
  if (error instanceof AggregateError) return error.errors.every(isOutage);
  if (error instanceof Error && 'code' in error && error.code !== 'EPROTO' && isOfSystem(error)) return true;
  return [Late, ConnectionTimeoutError, SocketClosedUnexpectedlyError, SocketTimeoutError].some(
    kind => error instanceof kind,
  );
}

/** True for errors of a system call. Node.js gives the end of a connection during the TLS handshake a code alone. */
function isOfSystem(error: Error & { code: unknown }): boolean {
  return 'syscall' in error || String(error.code) in constants.errno;
}

/** Why the server cannot be used, as the end of a sentence. */
function refusalOf(error: unknown): string {
  const text = reasonOf(error);
  if (text.startsWith('NOAUTH')) return 'it asks for a password, as in redis://:password@host:6379';
  if (error instanceof ErrorReply) return `it answers "${text}"`;
  if (error instanceof Error && 'code' in error) return `TLS fails with ${error.code}`;
  return `it does not speak the protocol of Redis (${text})`;
}

/** The error itself, unless it repeats the password of the address, as some proxies do with a command they refuse. */
function withoutPassword(error: unknown, url: string): unknown {
  const { password } = new URL(url);
  const secrets = [password, decodeURIComponent(password)].filter(secret => secret !== '');
  const text = error instanceof Error ? `${error.stack}${error.message}` : '';
  if (!secrets.some(secret => text.includes(secret))) return error;
  const message = secrets.reduce((cut, secret) => cut.replaceAll(secret, '…'), reasonOf(error));
  return error instanceof ErrorReply ? new ErrorReply(message) : new Error(message);
}
