import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DefaultState, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../client-address.ts';
import type { Metrics } from '../metrics.ts';
import { type ReadyHead, ReadyResponse, readyHeads } from '../ready-response.ts';
import { ageS, type Coding, formTag, holdsForm, type Representation } from '../representation.ts';
import { chosenForm, namesTag, preferredCoding } from '../send.ts';
import { type AccessLog, loggedTarget } from './access-log.ts';
import { type CountedRequest, RATE_LIMIT_HEADERS, type RateLimit } from './rate-limit.ts';
import { requestIdOf } from './request-state.ts';
import { headRefusal } from './request-target.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

/** Cached answer. */
interface StoredAnswer {
  readonly representation: Representation;
  /** UTC milliseconds. */
  readonly storedAt: number;
}

/** Cache hit that may be sent again without calling its handler. */
export interface RepeatableAnswer {
  readonly answer: StoredAnswer;
  /** Current answer for the same target and host; undefined unless it would be a hit. */
  current(): StoredAnswer | undefined;
}

declare module 'koa' {
  interface DefaultState {
    /** Set by the contract mount for a cache hit, which depends only on the target and the Host header. */
    repeatable?: RepeatableAnswer | undefined;
  }
}

export interface FastPathOptions {
  readonly access: AccessLog;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly clientOf: (request: IncomingMessage) => Client;
  readonly limit: RateLimit | undefined;
  readonly unsent: UnsentBytes;
}

/** Handler of one request, in the form that Koa returns. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Sends repeated cache hits, bypassing the framework. */
export interface FastPath {
  /** Stores the heads of cache hits that the app sent. */
  readonly learn: Middleware;
  /** Answers from stored heads; every other request goes to `ordinary`. */
  before(ordinary: Listener): Listener;
}

/** Limits of stored targets: their number, their total characters, and their length. */
const REMEMBERED = 20_000;
const REMEMBERED_CHARACTERS = 2 ** 22;
const LONGEST_REMEMBERED = 512;
/** Maximum heads per answer: clients request it in few forms. `entrySize` counts their memory with the entry. */
const MAX_HEADS = 2;
/** Headers that change the answer or the reading of the request. Requests with them take the ordinary path. */
const UNUSUAL_HEADERS = [
  'cache-control',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
] as const;

/** State of an ordinary response that may be repeated. */
interface Repeatable extends Pick<DefaultState, 'operationId' | 'loggedParameters'> {
  readonly repeatable: RepeatableAnswer;
}

/** Target that was answered from the cache. */
interface Target {
  readonly current: () => StoredAnswer | undefined;
  readonly operationId: string | undefined;
  readonly loggedPath: string;
}

/**
 * Sends repeated cache hits as prepared bytes. A hit that takes the ordinary path stores its head. Between requests
 * only the request id, limits, age and date change, so both paths send the same bytes.
 */
export function fastPath({ access, metrics, clock, clientOf, limit, unsent }: FastPathOptions): FastPath {
  const targets = new LRUCache<string, Target>({
    max: REMEMBERED,
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: (_target, key) => key.length,
  });
  // Keyed weakly by the answer, so that a head never outlives it.
  const heads = new WeakMap<StoredAnswer, Map<string, ReadyHead>>();
  const toHead = readyHeads();
  const dateOf = httpDates();

  return {
    learn: async (ctx, next) => {
      await next();
      const { repeatable, operationId, loggedParameters } = ctx.state;
      const { req, res } = ctx;
      if (repeatable === undefined || !(res instanceof ReadyResponse) || !isPlain(req, res)) return;
      res.once('finish', () => remember(req, res, { repeatable, operationId, loggedParameters }));
    },
    before: ordinary => async (request, response) => {
      const startedAt = performance.now();
      try {
        const ready = readyAnswer(request, response);
        const count = ready && limit?.count(request, ready.client);
        // Waits only for counted clients. Other responses are sent within this turn.
        const counted = count && (await count);
        if (ready !== undefined && counted?.isRefused !== true && maySend(ready))
          return send(ready, startedAt, counted);
      } catch {
        // If the failure is real, the ordinary path fails too and formats the error.
        if (response.headersSent) return response.destroy();
      }
      return ordinary(request, response);
    },
  };

  function remember(
    request: IncomingMessage,
    response: ReadyResponse,
    { repeatable, operationId, loggedParameters }: Repeatable,
  ): void {
    const { url = '' } = request;
    const key = keyOf(request);
    const head = toHead(response.head ?? '');
    const isHit = response.statusCode === 200 || response.statusCode === 304;
    if (head === undefined || !isHit || key.length > LONGEST_REMEMBERED) return;
    const { answer, current } = repeatable;
    const { coding } = chosenForm(request.headers['accept-encoding'], answer.representation);
    const known = heads.get(answer) ?? new Map<string, ReadyHead>();
    if (known.size < MAX_HEADS) heads.set(answer, known.set(kindOf(coding, response.statusCode), head));
    const masked = loggedTarget(url, loggedParameters);
    targets.set(key, { current, operationId, loggedPath: masked === url ? url : masked });
  }

  function readyAnswer(request: IncomingMessage, response: ServerResponse): ReadyAnswer | undefined {
    const target = targets.get(keyOf(request));
    if (target === undefined || !(response instanceof ReadyResponse) || !isPlain(request, response))
      return undefined;
    const answer = target.current();
    if (answer === undefined) return undefined;
    const { headers } = request;
    const { representation } = answer;
    // The ordinary path creates a missing form.
    if (!holdsForm(representation, preferredCoding(headers['accept-encoding']))) return undefined;
    const { coding, bytes } = chosenForm(headers['accept-encoding'], representation);
    const tags = headers['if-none-match'];
    const status = tags !== undefined && namesTag(tags, formTag(representation.etag, coding)) ? 304 : 200;
    const head = heads.get(answer)?.get(kindOf(coding, status));
    if (head === undefined || headRefusal(request) !== undefined) return undefined;
    const body = status === 200 && request.method === 'GET' ? bytes : undefined;
    return { request, response, client: clientOf(request), target, answer, status, head, body };
  }

  function maySend({ response, client, body }: ReadyAnswer): boolean {
    return maySendReady(response) && unsent.hasRoom(client, body?.length ?? 0);
  }

  function send(ready: ReadyAnswer, startedAt: number, counted?: CountedRequest): void {
    const { request, response, client, target, answer, status, head, body } = ready;
    const now = clock.now();
    const requestId = requestIdOf(request);
    response.endReady(
      status,
      head.toId +
        requestId +
        head.toLimits +
        limitLines(counted) +
        head.toAge +
        ageS(answer, now) +
        head.toDate +
        dateOf(now) +
        head.rest,
      body,
    );
    if (body !== undefined && !response.hasLeft) unsent.count(client, body.length, response);
    metrics.cacheResult('hit');
    metrics.request(target.operationId ?? 'none', status, (performance.now() - startedAt) / 1000);
    if (!access.covers(status)) return;
    const log = () =>
      access.write({
        requestId,
        method: request.method,
        path: target.loggedPath,
        operationId: target.operationId,
        status,
        durationMs: Math.round(performance.now() - startedAt),
        bytes: body?.length ?? 0,
        cache: 'HIT',
        ...(response.hasLeft ? {} : { aborted: true }),
      });
    if (response.hasLeft) log();
    else response.once('close', log);
  }
}

/** Identity of a target: the host may name the chain (Decision 73). */
function keyOf({ url, headers }: IncomingMessage): string {
  return `${headers.host} ${url}`;
}

/** Request that can be answered from memory, with the parts of its response. */
interface ReadyAnswer {
  readonly request: IncomingMessage;
  readonly response: ReadyResponse;
  readonly client: Client;
  readonly target: Target;
  readonly answer: StoredAnswer;
  readonly status: 200 | 304;
  readonly head: ReadyHead;
  /** Undefined for a response without a body. */
  readonly body: Buffer | undefined;
}

/** True for a plain read on a connection that stays open. */
function isPlain({ method, headers, httpVersion }: IncomingMessage, response: ServerResponse): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    httpVersion === '1.1' &&
    response.shouldKeepAlive &&
    maySendReady(response) &&
    UNUSUAL_HEADERS.every(name => headers[name] === undefined)
  );
}

/**
 * False when the client disconnected or a drain is closing its connection. A response that waits for an earlier one on
 * its connection has no socket yet.
 */
function maySendReady(response: ServerResponse): boolean {
  return !response.destroyed && response.socket?.writable !== false && !response.hasHeader('Connection');
}

/** Key of a head among those of one answer. */
function kindOf(coding: Coding, status: number): string {
  return status === 304 ? UNCHANGED[coding] : coding;
}

const UNCHANGED: Readonly<Record<Coding, string>> = {
  br: 'br, unchanged',
  gzip: 'gzip, unchanged',
  identity: 'identity, unchanged',
};

function limitLines(counted: CountedRequest | undefined): string {
  if (counted === undefined) return '';
  return RATE_LIMIT_HEADERS.map((name, index) => `${name}: ${counted.values[index]}\r\n`).join('');
}

/** Formats HTTP dates and caches the text for the current second. */
function httpDates(): (now: number) => string {
  let second = Number.NaN;
  let text = '';
  return now => {
    const current = Math.floor(now / 1000);
    if (current !== second) {
      second = current;
      text = new Date(now).toUTCString();
    }
    return text;
  };
}
