import type { IncomingHttpHeaders } from 'node:http';
import type { Agent, Dispatcher } from 'undici';
import type { Logger } from '../../lib/logger.ts';
import { VERSION } from '../../lib/version.ts';
import { allowedAddressTest } from './address-filter.ts';
import { beginning, boundedBody, drop, KNOWN_CODINGS, leave, UnreadableBody } from './bounded-body.ts';
import { ForbiddenAddress, guardedConnector, type HostLookup, nameServerLookup } from './connect.ts';

export interface GuardedFetchOptions {
  /** Networks, as CIDRs or addresses, that are reachable although not public. */
  readonly allowedNetworks?: readonly string[];
  /** True when URLs without TLS may be fetched. */
  readonly allowHttp?: boolean;
  /** Timeout from the call to the last byte of the body, including redirects. */
  readonly timeoutMs: number;
  /** Timeout from the call to the response headers, including redirects; `timeoutMs` when absent. */
  readonly headersWithinMs?: number;
  /** Maximum length of a body after decompression. */
  readonly maxBytes: number;
  /**
   * Allowed redirect targets. Other hosts pass the same checks as the first. `below` is an address that ends with a
   * slash. `same host` when absent.
   */
  readonly redirects?: 'same host' | 'any host' | { readonly below: string };
  /** Connections per host; 8 when absent. Further requests wait, and their timeout keeps running. */
  readonly connectionsPerHost?: number | 'unlimited';
  /** Queries name servers when absent, without the hosts file. */
  readonly lookup?: HostLookup;
  readonly log: Logger;
}

export interface GuardedRequest {
  /** Absolute URL without user and password. */
  readonly url: string;
  /** GET when absent. Only GET follows redirects, and only as `redirects` in the options allows. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /**
   * Accepted media types of a successful response, such as `application/json`; any when absent. A response without a
   * type is accepted.
   */
  readonly types?: readonly string[];
  readonly signal?: AbortSignal;
}

type AnswerBeginning = { readonly status: number; readonly beginning: Buffer | undefined };

interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Fetches untrusted URLs. */
export interface GuardedFetch {
  /** Returns a response of any status. @throws FetchFailure */
  fetch(request: GuardedRequest): Promise<GuardedResponse>;
  /**
   * Returns the status as soon as the headers have arrived. Reads and drops the body, up to `maxBytes` and for at most
   * a second, so that the connection can be reused. @throws FetchFailure
   */
  statusOf(request: Omit<GuardedRequest, 'types'>): Promise<number>;
  /**
   * The same with the first bytes of the body, as far as they arrive within a second; undefined for a compressed body.
   * @throws FetchFailure
   */
  beginningOf(request: Omit<GuardedRequest, 'types'>, bytes: number): Promise<AnswerBeginning>;
  close(): Promise<void>;
}

const MAX_REDIRECTS = 3;
const MAX_URL = 8_192;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Also limits the connections that a page full of links to one host can open. */
const CONNECTIONS_PER_HOST = 8;
const DROPPED_WITHIN_MS = 1_000;
/** Maximum idle time of a connection. Otherwise the remote server could make us hold idle connections for minutes. */
const KEPT_MS = 5_000;

/**
 * Creates a fetcher that connects over https to public addresses only, checked as the socket connects. Every port is
 * allowed, because the server must present a TLS certificate for the name.
 * @throws on creation, for an invalid network
 */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { allowedNetworks = [], allowHttp = false, timeoutMs, maxBytes, log } = options;
  const { lookup = nameServerLookup(), connectionsPerHost = CONNECTIONS_PER_HOST } = options;
  const { redirects = 'same host', headersWithinMs = timeoutMs } = options;
  const isAllowed = allowedAddressTest(allowedNetworks);
  let opening: Promise<Agent> | undefined;
  let isClosed = false;

  /** Opens the pool of connections to all hosts. The library is loaded with the first request. */
  async function openAgent(): Promise<Agent> {
    const { Agent } = await import('undici');
    const agent = new Agent({
      connect: await guardedConnector({ isAllowed, lookup, timeoutMs }),
      connections: connectionsPerHost === 'unlimited' ? null : connectionsPerHost,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      keepAliveMaxTimeout: KEPT_MS,
    });
    if (isClosed) await agent.destroy(); // its requests then fail, as on any closed agent
    return agent;
  }

  return {
    fetch: request =>
      bounded(request, async signal => {
        const { statusCode: status, headers, body } = await sendTo(request, signal);
        const isWanted = status >= 300 || hasType(headers, request.types);
        if (!isWanted) {
          leave(body);
          throw new FetchFailure('wrong_type', { status });
        }
        const coding = one(headers['content-encoding']);
        const bytes = await boundedBody(body, { coding, maxBytes }).catch((error: unknown) => {
          throw unread(error, status);
        });
        return { status, headers, bytes };
      }),
    statusOf: request =>
      bounded(request, async signal => {
        const { statusCode, body } = await sendTo(request, signal);
        drop(body, maxBytes, DROPPED_WITHIN_MS);
        return statusCode;
      }),
    beginningOf: (request, bytes) =>
      bounded(request, async signal => {
        const { statusCode: status, headers, body } = await sendTo(request, signal);
        const isPlain = one(headers['content-encoding']) === undefined;
        if (!isPlain) drop(body, maxBytes, DROPPED_WITHIN_MS);
        return { status, beginning: isPlain ? await beginning(body, bytes, DROPPED_WITHIN_MS) : undefined };
      }),
    close: async () => {
      isClosed = true;
      await (await opening)?.destroy();
    },
  };

  /** Runs `work` with a signal that aborts at the deadline, and converts failures. */
  async function bounded<T>(request: GuardedRequest, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const signal =
      request.signal === undefined ? late.signal : AbortSignal.any([late.signal, request.signal]);
    try {
      return await work(signal);
    } catch (error) {
      if (late.signal.aborted) throw new FetchFailure('timeout', { cause: error });
      if (request.signal?.aborted === true) throw new FetchFailure('abandoned', { cause: error });
      const failure = error instanceof FetchFailure ? error : unreached(error);
      // At debug level, because untrusted parties choose these URLs.
      log.debug({ err: failure, kind: failure.kind }, 'a guarded fetch failed');
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a request and limits the time to the response headers. */
  async function sendTo(request: GuardedRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    if (headersWithinMs >= timeoutMs) return sendOn(request, signal);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), headersWithinMs);
    try {
      return await sendOn(request, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      if (late.signal.aborted && !signal.aborted) throw new FetchFailure('timeout', { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function sendOn(request: GuardedRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    let url = checked(request.url);
    for (let hops = 0; ; hops += 1) {
      const response = await send(url, request, signal);
      const location = one(response.headers.location);
      const isRedirect = REDIRECTS.includes(response.statusCode) && location !== undefined;
      if (!isRedirect || request.method === 'POST') return response;
      leave(response.body);
      const next = checked(location, url);
      const isAllowed = mayFollow(next, url);
      const keepsTls = next.protocol === url.protocol || next.protocol === 'https:';
      if (hops === MAX_REDIRECTS || !isAllowed || !keepsTls)
        throw new FetchFailure('redirected', { status: response.statusCode });
      url = next;
    }
  }

  function mayFollow(next: URL, url: URL): boolean {
    if (typeof redirects === 'object') return isBelow(redirects.below, next);
    return redirects === 'any host' || next.host === url.host;
  }

  async function send(
    url: URL,
    request: GuardedRequest,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { method = 'GET', types, headers, body = null } = request;
    opening ??= openAgent().catch(error => {
      opening = undefined; // the next request retries
      throw error;
    });
    const agent = await opening;
    return agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        'user-agent': `tollgate/${VERSION}`,
        'accept-encoding': KNOWN_CODINGS,
        ...(types === undefined ? {} : { accept: types.join(', ') }),
        ...headers,
      },
      body,
      signal,
    });
  }

  function checked(text: string, base?: URL): URL {
    const url = text.length > MAX_URL ? null : URL.parse(text, base?.href);
    const isAllowed =
      url !== null &&
      (url.protocol === 'https:' || (allowHttp && url.protocol === 'http:')) &&
      url.username === '' &&
      url.password === '';
    if (!isAllowed) throw new FetchFailure('refused');
    return url;
  }
}

/** Escapes that servers decode to a separator or a NUL. */
const ENCODED_SEPARATOR = /%(?:2f|5c|00)/i;

/** True for a URL inside a folder, even after a server decodes the path. `folder` ends with a slash. */
export function isBelow(folder: string, { href, pathname }: URL): boolean {
  return href.startsWith(folder) && !ENCODED_SEPARATOR.test(pathname);
}

function hasType(headers: IncomingHttpHeaders, types: readonly string[] | undefined): boolean {
  const [type = ''] = (one(headers['content-type']) ?? '').split(';');
  return types === undefined || type.trim() === '' || types.includes(type.trim().toLowerCase());
}

function unread(error: unknown, status: number): unknown {
  if (!(error instanceof UnreadableBody)) return error;
  const kind =
    error.fault === 'too_long' ? 'too_long' : error.fault === 'broken_off' ? 'unreachable' : 'unreadable';
  return new FetchFailure(kind, { status, cause: error });
}

function unreached(error: unknown): FetchFailure {
  return new FetchFailure(error instanceof ForbiddenAddress ? 'refused' : 'unreachable', { cause: error });
}

/** Joins repeated headers, which then match no known value. */
function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Reason for a failed fetch.
 * - `refused`: the URL or every address of its host is not allowed.
 * - `redirected`: redirected to a forbidden place or too often.
 * - `timeout`: no complete response in time.
 * - `unreachable`: no connection, no valid certificate, or a connection that broke.
 * - `too_long`, `wrong_type`, `unreadable`: the body is not acceptable.
 * - `abandoned`: the caller's signal aborted.
 */
export type FetchFailureKind =
  | 'refused'
  | 'redirected'
  | 'timeout'
  | 'unreachable'
  | 'too_long'
  | 'wrong_type'
  | 'unreadable'
  | 'abandoned';

/** Error for a fetch without a readable response. Its message contains no address, but its cause may. */
export class FetchFailure extends Error {
  readonly kind: FetchFailureKind;
  /** Status of the response whose body was not read. */
  readonly status: number | undefined;

  constructor(kind: FetchFailureKind, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(`the fetch failed: ${kind.replace('_', ' ')}`, { cause });
    this.name = 'FetchFailure';
    this.kind = kind;
    this.status = status;
  }
}
