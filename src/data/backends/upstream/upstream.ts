import { Pool } from 'undici';
import { hiding, readAddress, unescaped } from '#http/fetch/secret-address.ts';
import type { ClockAndLog } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { openBreaker } from './breaker.ts';
import { exchange, type UpstreamReply, type UpstreamRequest } from './exchange.ts';
import { Abandoned, endedBy, incidentOf } from './exchange-error.ts';
import { watchQuota } from './quota.ts';

export interface GetOptions {
  readonly query?: URLSearchParams | undefined;
  /** Ends the request and its retry. The reason distinguishes a deadline from a cancelled request. */
  readonly signal: AbortSignal;
  /** Name for requests that the breaker counts as one, where the path has a text of the client. From the path when absent. */
  readonly endpoint?: string;
}

/** Client of another service's HTTP API, with a connection pool, a circuit breaker and a pause when over quota. */
export interface Upstream {
  /**
   * GETs `path` below the base address.
   * @throws BackendError the verdict of `judge`; `unavailable` when no JSON reply arrives in time.
   */
  get(path: string, options: GetOptions): Promise<UpstreamReply>;
  /** Parameter names of the base address's query. Some services echo the parameters they received. */
  readonly ownParameters: ReadonlySet<string>;
  /** True when a text from the upstream is one of our keys for it. */
  isSecret(text: string): boolean;
  /** False while the breaker is open or the quota is used up: a request would fail at once. */
  isReady(): boolean;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** Interprets a status and JSON body. Returns undefined for a valid answer. */
export type Judge = (reply: UpstreamReply) => BackendError | undefined;

export interface UpstreamOptions extends ClockAndLog {
  /** For the log. */
  readonly name: string;
  /** Absolute address. Request paths are appended to its path; its query is sent with every request. */
  readonly baseUrl: string;
  /** Sent with every request, keys included; never logged. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly judge: Judge;
  /** Version of this service, for the user agent. */
  readonly version?: string;
}

const POOL = {
  connections: 32,
  keepAliveTimeout: 30_000,
  // One request per connection, so that a fault affects only that request.
  allowH2: false,
  pipelining: 1,
} as const;

/** Maximum length of an upstream's message in a client's answer. */
const MAX_MESSAGE = 300;

/** Replaces a message that repeats the request. */
const REFUSED = 'the back end refused the request';

/** Minimum key length for `isSecret`: a shorter text may match a key by chance. */
const MIN_KEY = 8;

/** Bounds of the wait before the one retry. */
const RETRY_MS = { from: 50, to: 250 } as const;

/**
 * Opens a client of another service's HTTP API. Nothing is sent before the first `get`. @throws TypeError for an
 * invalid address.
 */
export function openUpstream(options: UpstreamOptions): Upstream {
  const { name, baseUrl, judge, clock, log, version } = options;
  const address = readAddress(baseUrl);
  const pool = new Pool(address.origin, POOL);
  const quota = watchQuota({ name, clock, log });
  const breaker = openBreaker(name, { clock, log });
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

  /** Removes secrets from a verdict's message, because it may repeat the upstream's text and clients read it. */
  function withoutSecrets(verdict: BackendError, target: string): BackendError {
    const { kind, reason, message, cause } = verdict;
    const isRepeating = message.includes(target) || message.includes(unescaped(target));
    // Hide before cutting, or half a secret may remain at the end.
    const shown = isRepeating ? REFUSED : hide(message).slice(0, MAX_MESSAGE);
    return shown === message ? verdict : new BackendError(kind, reason, shown, { cause });
  }

  function attempt(sending: UpstreamRequest): Promise<UpstreamReply> {
    // Checked again before the retry, because another request may have used up the quota in between.
    quota.check();
    return exchange(pool, quota, sending);
  }

  async function twiceAtMost(sending: UpstreamRequest): Promise<UpstreamReply> {
    try {
      return await attempt(sending);
    } catch (error) {
      if (incidentOf(error)?.isTransport !== true || sending.signal.aborted) throw error;
    }
    // A restart breaks all connections at once. Jitter spreads the retries.
    await clock.sleep(RETRY_MS.from + Math.random() * (RETRY_MS.to - RETRY_MS.from), sending.signal);
    return attempt(sending);
  }

  async function ask(path: string, { query, signal }: GetOptions): Promise<UpstreamReply> {
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
      return breaker.run(request.endpoint ?? endpointOf(path), () => ask(path, request));
    },
    ownParameters: address.ownParameters,
    isSecret: text => known.has(text),
    isReady: () => !quota.isUsedUp() && breaker.isReady(),
    close: () => pool.destroy(),
  };
}

interface FailureLogOptions extends ClockAndLog {
  readonly name: string;
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string;
}

/** Reports one failed request. `path` has no query. */
type ReportFailure = (path: string, error: unknown) => void;

const INTERVAL_MS = 1000;
const MAX_TEXT = 200;

/**
 * Logs outages of one upstream, at most one line per second, because an outage at full load would fill the disk. `more`
 * counts the failures since the previous line.
 */
function failureLog({ name, clock, log, hide }: FailureLogOptions): ReportFailure {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let more = 0;

  const shown = (text: string | undefined) =>
    hide(text?.slice(0, 10 * MAX_TEXT) ?? '').slice(0, MAX_TEXT) || undefined;

  return (path, error) => {
    if (error instanceof Abandoned || (error instanceof BackendError && error.kind !== 'unavailable')) return;
    if (clock.now() < quietUntil) {
      more += 1;
      return;
    }
    const incident = incidentOf(error);
    const reason = error instanceof Error ? error.message : undefined;
    log.warn(
      {
        upstream: name,
        path,
        reason: shown(reason),
        status: incident?.status,
        code: incident?.code,
        fault: shown(incident?.message),
        location: shown(incident?.location),
        text: shown(incident?.text),
        ...(more > 0 ? { more } : {}),
      },
      'upstream failed',
    );
    quietUntil = clock.now() + INTERVAL_MS;
    more = 0;
  };
}

/** Path without hashes and numbers, so that requests for different records count as one endpoint. */
function endpointOf(path: string): string {
  return path.replace(/0x[\da-f]+|\d+/gi, '*');
}
