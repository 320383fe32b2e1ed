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
  /** Title inside a sentence: `Redis of the cache`. */
  readonly title: string;
  /** Path of the setting that names the server. */
  readonly setting: string;
  /** Receives broken connections and failed attempts to reconnect. */
  readonly failures: StoreFailures;
}

export type RedisClient = ReturnType<typeof clientOf>;

/** Connection that reconnects whenever it breaks. While disconnected, every command fails at once. */
export interface RedisConnection {
  readonly client: RedisClient;
  /** Reopens the connection, for example after a reply that belongs to another command. Pending commands fail. */
  renew(reason: unknown): void;
  /** Ends the connection or the attempt to connect. Idempotent. */
  close(): void;
}

const CONNECT_MS = 2_000;
/** Longest wait at startup. Afterwards the process continues without the server. */
const START_MS = 2_000;
/** Longest silence during the handshake. */
const SILENCE_MS = 5_000;
const PING_EVERY_MS = 1_000;
/** Consecutive pings without a reply after which the connection is reopened. */
const MAX_UNANSWERED = 5;
/** Maximum number of commands that wait for an unresponsive server. Further commands fail at once. */
const MAX_WAITING = 1_000;
/** Key of the test write at startup, which expires at once. */
const PROBE = 'tollgate:start';
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 1_000;

/**
 * Connects to Redis. An unreachable server is reported and retried in the background.
 * @throws CannotStart when the server refuses the connection or is not Redis, so that its setting is wrong
 */
export async function openRedis(options: RedisOptions): Promise<RedisConnection> {
  const { failures } = options;
  const first = Promise.withResolvers<never>();
  let isStarting = true;
  const closing = new AbortController();
  const client = clientOf(options, closing.signal);
  const renew = (reason: unknown) => {
    if (!client.isReady) return; // the connection is already being reopened
    failures.report(withoutPassword(reason, options.url));
    client.destroy();
    client.connect().catch(() => undefined); // each failed attempt emits an error event
  };
  client.on('error', (error: unknown) => {
    if (closing.signal.aborted) return;
    if (isStarting) first.reject(error);
    // A socket error has ended the connection. After a decoder error, no further reply could be read.
    else if (client.isReady) renew(error);
    else failures.report(withoutPassword(error, options.url));
  });
  try {
    // Unlike a greeting, a write detects a user without permissions and a read-only replica.
    const answered = client.connect().then(() => client.set(PROBE, '', { PX: 1 }));
    answered.catch(() => undefined); // reported below, or by an error event
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
  const stopPings = watchReplies(client, { renew, works: failures.works });
  return {
    client,
    renew,
    close() {
      if (closing.signal.aborted) return;
      stopPings();
      client.destroy();
      closing.abort(); // the client does not close a socket that is still connecting
    },
  };
}

/**
 * Reopens a connection whose server stops replying, or whose replies belong to other commands. The socket's own timeout
 * restarts with every write, so it never fires during traffic. Returns a function that stops the pings.
 */
function watchReplies(
  client: RedisClient,
  { renew, works }: { renew: RedisConnection['renew']; works: StoreFailures['works'] },
): () => void {
  let sent = 0;
  let unanswered = 0;
  client.on('ready', () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    if (!client.isReady) return;
    if (unanswered >= MAX_UNANSWERED) return renew(new SocketTimeoutError(unanswered * PING_EVERY_MS));
    unanswered += 1;
    sent += 1;
    void ping(String(sent));
  }, PING_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);

  async function ping(word: string): Promise<void> {
    try {
      const reply = await client.ping(word);
      if (reply === word) {
        unanswered = 0;
        works();
      } else renew(new Error('a reply belongs to another command'));
    } catch (error) {
      if (error instanceof ErrorReply) unanswered = 0;
    }
  }
}

/** Creates a client. Aborting the signal ends its sockets. */
function clientOf({ url, title, setting }: RedisOptions, signal: AbortSignal) {
  try {
    return createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING,
      socket: {
        connectTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        signal,
        reconnectStrategy: retries =>
          signal.aborted ? false : Math.min(FIRST_RETRY_MS * 2 ** retries, LONGEST_RETRY_MS),
      },
    });
  } catch {
    // The original message may contain the address.
    throw new CannotStart(`The ${title} cannot be used`, 'its address cannot be read', setting);
  }
}

/** Replies of a server that will soon work again. Source: Redis 7, `shared` in server.c, and networking.c. */
const PASSING =
  /^(LOADING|BUSY|MASTERDOWN|READONLY|OOM|MISCONF|TRYAGAIN|CLUSTERDOWN|ERR max number of clients)/;

/** True when the server is unreachable or busy. Other errors last until a setting is changed. */
function isOutage(error: unknown): boolean {
  if (error instanceof ErrorReply) return PASSING.test(error.message);
  // Contains one error per address of the host.
  if (error instanceof AggregateError) return error.errors.every(isOutage);
  if (error instanceof Error && 'code' in error && error.code !== 'EPROTO' && isOfSystem(error)) return true;
  return [Late, ConnectionTimeoutError, SocketClosedUnexpectedlyError, SocketTimeoutError].some(
    kind => error instanceof kind,
  );
}

/**
 * True for errors of a system call. For the end of a connection during the TLS handshake, Node.js gives only a code.
 */
function isOfSystem(error: Error & { code: unknown }): boolean {
  return 'syscall' in error || String(error.code) in constants.errno;
}

/** Refusal of a server that requires a password. */
export class PasswordRequired extends Error {
  constructor() {
    super('it asks for a password, as in redis://:password@host:6379');
    this.name = 'PasswordRequired';
  }
}

/** Reason for the refusal, as the end of a sentence. */
function refusalOf(error: unknown): string | PasswordRequired {
  const text = reasonOf(error);
  if (text.startsWith('NOAUTH')) return new PasswordRequired();
  if (error instanceof ErrorReply) return `it answers "${text}"`;
  if (error instanceof Error && 'code' in error) return `TLS fails with ${error.code}`;
  return `it does not speak the protocol of Redis (${text})`;
}

/** Removes the password from an error. Some proxies repeat it when they refuse a command. */
function withoutPassword(error: unknown, url: string): unknown {
  const { password } = new URL(url);
  const secrets = [password, decodeURIComponent(password)].filter(secret => secret !== '');
  const text = error instanceof Error ? `${error.stack}${error.message}` : '';
  if (!secrets.some(secret => text.includes(secret))) return error;
  const message = secrets.reduce((cut, secret) => cut.replaceAll(secret, '…'), reasonOf(error));
  return error instanceof ErrorReply ? new ErrorReply(message) : new Error(message);
}
