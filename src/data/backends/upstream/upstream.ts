import { Pool } from 'undici';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { hiding, readAddress, unescaped } from './address.ts';
import { openBreaker } from './breaker.ts';
import { exchange, type OutgoingRequest, type Reply } from './exchange.ts';
import { endedBy, incidentOf } from './exchange-error.ts';
import { failureLog } from './failure-log.ts';
import { watchQuota } from './quota.ts';

export interface GetOptions {
  readonly query?: URLSearchParams | undefined;
  /** Ends the request, retry included; its reason tells a deadline from an answer that nobody wants any more. */
  readonly signal: AbortSignal;
}

/** Another service's HTTP API, asked politely: one pool of connections, a breaker, and a pause when over quota. */
export interface Upstream {
  /**
   * GETs `path` below the base address.
   * @throws BackendError what `judge` made of the reply; `unavailable` for everything that is no JSON reply in time.
   */
  get(path: string, options: GetOptions): Promise<Reply>;
  /** Names of the parameters that the base address brings to every request: some services echo what they were sent. */
  readonly ownParameters: ReadonlySet<string>;
  /** Whether a text that the upstream sent is one of the keys that it is asked with. */
  isSecret(text: string): boolean;
  /** False while the breaker is open or the quota is used up: a request would fail at once. */
  isReady(): boolean;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** What an API means by a status and a body of JSON; undefined for an answer. */
export type Judge = (reply: Reply) => BackendError | undefined;

export interface UpstreamOptions {
  /** For the log. */
  readonly name: string;
  /** Absolute; paths are appended to its path, its query is sent with every request. */
  readonly baseUrl: string;
  /** Sent with every request, keys included; never logged. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly judge: Judge;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of this service, for the user agent. */
  readonly version?: string;
  /** Outages in a row until it is left alone, and for how long; 5 and 10 s when absent. */
  readonly breaker?: { readonly failures: number; readonly pauseMs: number };
}

const POOL = {
  connections: 32,
  keepAliveTimeout: 30_000,
  // One request a connection: what a fault takes with it is known.
  allowH2: false,
  pipelining: 1,
} as const;

/** Of what an upstream said in a client's answer. */
const MAX_MESSAGE = 300;

/** In place of words that repeat how it was asked. */
const REFUSED = 'the back end refused the request';

/** A shorter text may be one of the keys by chance. */
const MIN_KEY = 8;

/** Bounds of the wait before the one retry. */
const RETRY_MS = { from: 50, to: 250 } as const;

/** Connects to another service's HTTP API; nothing is sent before the first `get`. @throws TypeError for no address. */
export function openUpstream(options: UpstreamOptions): Upstream {
  const { name, baseUrl, judge, clock, log, version, breaker: limits } = options;
  const address = readAddress(baseUrl);
  const pool = new Pool(address.origin, POOL);
  const quota = watchQuota({ name, clock, log });
  const breaker = openBreaker({ name, clock, log, ...(limits ?? { failures: 5, pauseMs: 10_000 }) });
  const headers = {
    ...address.headers,
    ...options.headers,
    accept: 'application/json',
    'accept-encoding': 'br, gzip',
    'user-agent': version === undefined ? 'tollgate' : `tollgate/${version}`,
  };
  const keys = Object.values({ ...address.headers, ...options.headers });
  const secrets = [...address.secrets, ...keys, ...keys.flatMap(key => key.split(/\s+/))];
  const hide = hiding(secrets);
  const known = new Set(
    secrets.filter(secret => secret.length >= MIN_KEY).flatMap(key => [key, unescaped(key)]),
  );
  const report = failureLog({ name, clock, log, hide });

  /** A verdict may repeat what the upstream said, and clients read it. */
  function withoutSecrets(verdict: BackendError, target: string): BackendError {
    const { kind, reason, message, cause } = verdict;
    const isRepeating = message.includes(target) || message.includes(unescaped(target));
    // Cut behind the hiding, so that no half of a secret is left at the end.
    const shown = isRepeating ? REFUSED : hide(message).slice(0, MAX_MESSAGE);
    return shown === message ? verdict : new BackendError(kind, reason, shown, { cause });
  }

  function attempt(sending: OutgoingRequest): Promise<Reply> {
    // Again before the retry: another request may have used up the rest meanwhile.
    quota.check();
    return exchange(pool, quota, sending);
  }

  async function twiceAtMost(sending: OutgoingRequest): Promise<Reply> {
    try {
      return await attempt(sending);
    } catch (error) {
      if (incidentOf(error)?.isTransport !== true || sending.signal.aborted) throw error;
    }
    // A restart cuts all connections at once: jitter keeps the retries from arriving at once.
    await clock.sleep(RETRY_MS.from + Math.random() * (RETRY_MS.to - RETRY_MS.from), sending.signal);
    return attempt(sending);
  }

  async function ask(path: string, { query, signal }: GetOptions): Promise<Reply> {
    try {
      const sending = { target: address.target(path, query), headers, signal };
      const reply = await twiceAtMost(sending).catch((error: unknown) => {
        throw endedBy(signal) ?? error;
      });
      const verdict = judge(reply);
      if (verdict !== undefined) throw withoutSecrets(verdict, sending.target);
      return reply;
    } catch (error) {
      report(path, error);
      throw error;
    }
  }

  return {
    async get(path, request) {
      const ended = endedBy(request.signal);
      if (ended !== undefined) throw ended;
      quota.check();
      return breaker.run(path, () => ask(path, request));
    },
    ownParameters: address.ownParameters,
    isSecret: text => known.has(text),
    isReady: () => !quota.isUsedUp() && breaker.isReady(),
    close: () => pool.destroy(),
  };
}
