import type { IncomingHttpHeaders } from 'node:http';
import type { Agent, Dispatcher } from 'undici';
import type { Logger } from '../../lib/logger.ts';
import { VERSION } from '../../lib/version.ts';
import { addressJudge } from './address-filter.ts';
import { boundedBody, KNOWN_CODINGS, leave, UnreadableBody } from './bounded-body.ts';
import { ForbiddenAddress, guardedConnector, type Lookup, nameServerLookup } from './connect.ts';

export interface GuardedFetchOptions {
  /** Networks, as CIDRs or addresses, that may be reached although they are not public. */
  readonly allowedNetworks?: readonly string[];
  /** Whether URLs without TLS may be fetched. */
  readonly allowHttp?: boolean;
  /** From the call to the last byte of the body, redirects included. */
  readonly timeoutMs: number;
  /** From the call to the headers of the answer, redirects included; `timeoutMs` when absent. */
  readonly headersWithinMs?: number;
  /** The longest body that is read, after decompression. */
  readonly maxBytes: number;
  /**
   * Where a redirect may lead: another host is judged like the first one, and `below` is an address that ends with a slash.
   * `same host` when absent.
   */
  readonly redirects?: 'same host' | 'any host' | { readonly below: string };
  /** 8 when absent. Requests wait for one another at it, and their time for an answer runs meanwhile. */
  readonly connectionsPerHost?: number | 'unlimited';
  /** Asks the name servers when absent, without the hosts file. */
  readonly lookup?: Lookup;
  readonly log: Logger;
}

export interface GuardedRequest {
  /** Absolute, without user and password. */
  readonly url: string;
  /** GET when absent. Only GET follows redirects, and only where `redirects` of the options allows. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Media types that a success may have, such as `application/json`; any when absent. One that is not named is taken. */
  readonly types?: readonly string[];
  readonly signal?: AbortSignal;
}

interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Fetches what strangers named. */
export interface GuardedFetch {
  /** Any status is a response. @throws FetchFailure */
  fetch(request: GuardedRequest): Promise<GuardedResponse>;
  /**
   * The status, as soon as the headers are there. Of the body at most `maxBytes` are read, for a second at most, and all
   * of them dropped: so that the connection can be used again, whatever the body is like. @throws FetchFailure
   */
  statusOf(request: Omit<GuardedRequest, 'types'>): Promise<number>;
  close(): Promise<void>;
}

const MAX_REDIRECTS = 3;
const MAX_URL = 8_192;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Also bounds what a page of links to one host opens there. */
const CONNECTIONS_PER_HOST = 8;
const DROPPED_WITHIN_MS = 1_000;
/** How long a connection that nobody uses is kept at most: else whoever answers says how many we hold, for minutes. */
const KEPT_MS = 5_000;

/**
 * Fetches over https from public addresses only, judged where the socket connects. Every port is allowed: what answers
 * there has to speak TLS with a certificate for the name.
 * @throws when made, for an allowed network that is none.
 */
export function guardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { allowedNetworks = [], allowHttp = false, timeoutMs, maxBytes, log } = options;
  const { lookup = nameServerLookup(), connectionsPerHost = CONNECTIONS_PER_HOST } = options;
  const { redirects = 'same host', headersWithinMs = timeoutMs } = options;
  const isAllowed = addressJudge(allowedNetworks);
  let opening: Promise<Agent> | undefined;
  let isClosed = false;

  /** The connections to all hosts. Their library is loaded with the first request. */
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
    if (isClosed) await agent.destroy(); // its requests fail, as those of any closed one
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
        drop(body, maxBytes);
        return statusCode;
      }),
    close: async () => {
      isClosed = true;
      await (await opening)?.destroy();
    },
  };

  /** Runs `work` with a signal that ends it in time, and says why when it fails. */
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
      // Quietly: it is strangers who write such links.
      log.debug({ err: failure, kind: failure.kind }, 'a guarded fetch failed');
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The response to a request, with its headers in time. */
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
      opening = undefined; // the next request loads it again
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

/** Reads a body to its end, or for as long and as many bytes as it may have, and keeps nothing of it. */
function drop(body: Dispatcher.ResponseData['body'], maxBytes: number): void {
  const timer = setTimeout(() => body.destroy(), DROPPED_WITHIN_MS);
  const forget = () => clearTimeout(timer);
  // A body that breaks off changes nothing of the status.
  body.dump({ limit: maxBytes }).then(forget, forget);
}

/** What servers decode to a separator, or to the end of a name. */
const ENCODED_SEPARATOR = /%(?:2f|5c|00)/i;

/** True for an address in a folder, `folder` ending with a slash, also for a server that decodes the path. */
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

/** A header sent twice counts as one that nobody knows. */
function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Why a guarded fetch has no response: `refused` the URL or every address of its host is not allowed; `redirected`
 * elsewhere or too often; `timeout` no complete response in time; `unreachable` no connection, no valid certificate, or
 * one that broke off; `too_long`, `wrong_type` and `unreadable` tell of the body; `abandoned` the caller's signal.
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

/** There is no response, or none that may be read. Its text names no address; the cause may. */
export class FetchFailure extends Error {
  readonly kind: FetchFailureKind;
  /** Of the response whose body was not read. */
  readonly status: number | undefined;

  constructor(kind: FetchFailureKind, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(`the fetch failed: ${kind.replace('_', ' ')}`, { cause });
    this.name = 'FetchFailure';
    this.kind = kind;
    this.status = status;
  }
}
