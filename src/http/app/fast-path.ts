import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../client-address.ts';
import type { Metrics } from '../metrics.ts';
import { ReadyResponse } from '../ready-response.ts';
import { ageS, type Coding, formTag, holdsForm, type Representation } from '../representation.ts';
import { chosenForm, namesTag, preferredCoding } from '../send.ts';
import { type AccessLog, withoutSecrets } from './access-log.ts';
import { type CountedRequest, RATE_LIMIT_HEADERS, type RateLimit } from './rate-limit.ts';
import { requestIdOf } from './request-state.ts';
import { headRefusal } from './request-target.ts';

/** An answer as a cache holds it. */
export interface StoredAnswer {
  readonly representation: Representation;
  /** UTC milliseconds. */
  readonly storedAt: number;
}

/** A cache hit that may be sent again without asking its handler. */
export interface RepeatableAnswer {
  readonly answer: StoredAnswer;
  /** The answer that the same target gets now; undefined unless it would be a hit. */
  current(): StoredAnswer | undefined;
}

declare module 'koa' {
  interface DefaultState {
    /** Set by the contract mount for a cache hit, which depends on nothing but the target. */
    repeatable?: RepeatableAnswer | undefined;
  }
}

export interface FastPathOptions {
  readonly access: AccessLog;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly clientOf: (request: IncomingMessage) => Client;
  readonly limit: RateLimit | undefined;
}

/** Handles one request; Koa's own form of it. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The way of repeated cache hits, past the framework. */
export interface FastPath {
  /** Remembers the heads of cache hits that the app sent. */
  readonly learn: Middleware;
  /** Answers from what was remembered; every other request goes to `ordinary`. */
  before(ordinary: Listener): Listener;
}

/** Targets remembered, their characters together, and the longest of them. */
const REMEMBERED = 20_000;
const REMEMBERED_CHARACTERS = 2 ** 22;
const LONGEST_REMEMBERED = 512;
/** Heads of one answer: clients ask for it in few forms. Their memory is part of an entry's, see `entrySize`. */
const MOST_HEADS = 2;
/** Headers that change what a hit is or how its request is read. Requests with them go the ordinary way. */
const UNUSUAL_HEADERS = [
  'cache-control',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
] as const;

/** A target that was answered from the cache. */
interface Target {
  readonly current: () => StoredAnswer | undefined;
  readonly operationId: string | undefined;
  readonly loggedPath: string;
}

/**
 * Sends repeated cache hits as bytes that are ready. A hit that went the ordinary way leaves its head behind. From one
 * request to the next only its request id, limits, age and date change, so both ways give the same bytes.
 */
export function fastPath({ access, metrics, clock, clientOf, limit }: FastPathOptions): FastPath {
  const targets = new LRUCache<string, Target>({
    max: REMEMBERED,
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: (_target, url) => url.length,
  });
  // Held by the answer, so that a head never outlives it and takes no memory beyond it.
  const heads = new WeakMap<StoredAnswer, Map<string, ReadyHead>>();
  const toHead = headReader();
  const dateOf = httpDates();

  return {
    learn: async (ctx, next) => {
      await next();
      const { repeatable, operationId } = ctx.state;
      const { req, res } = ctx;
      if (repeatable === undefined || !(res instanceof ReadyResponse) || !isPlain(req, res)) return;
      res.once('finish', () => remember(req, res, { repeatable, operationId }));
    },
    before: ordinary => async (request, response) => {
      const startedAt = performance.now();
      try {
        const ready = readyAnswer(request, response);
        const count = ready && limit?.count(request, clientOf(request));
        // Only a counted client waits: the answer to any other leaves within this turn.
        const counted = count && (await count);
        if (ready !== undefined && counted?.isRefused !== true && maySendReady(response))
          return send(ready, startedAt, counted);
      } catch {
        // The ordinary way meets the same failure, if it is one, and words it.
        if (response.headersSent) return response.destroy();
      }
      return ordinary(request, response);
    },
  };

  function remember(
    request: IncomingMessage,
    response: ReadyResponse,
    { repeatable, operationId }: { repeatable: RepeatableAnswer; operationId: string | undefined },
  ): void {
    const { url = '' } = request;
    const head = toHead(response.head ?? '');
    const isHit = response.statusCode === 200 || response.statusCode === 304;
    if (head === undefined || !isHit || url.length > LONGEST_REMEMBERED) return;
    const { answer, current } = repeatable;
    const { coding } = chosenForm(request.headers['accept-encoding'], answer.representation);
    const known = heads.get(answer) ?? new Map<string, ReadyHead>();
    if (known.size < MOST_HEADS) heads.set(answer, known.set(kindOf(coding, response.statusCode), head));
    const masked = withoutSecrets(url);
    targets.set(url, { current, operationId, loggedPath: masked === url ? url : masked });
  }

  function readyAnswer(request: IncomingMessage, response: ServerResponse): ReadyAnswer | undefined {
    const target = targets.get(request.url ?? '');
    if (target === undefined || !(response instanceof ReadyResponse) || !isPlain(request, response))
      return undefined;
    const answer = target.current();
    if (answer === undefined) return undefined;
    const { headers } = request;
    const { representation } = answer;
    // A form that is missing is made by the ordinary way.
    if (!holdsForm(representation, preferredCoding(headers['accept-encoding']))) return undefined;
    const { coding, bytes } = chosenForm(headers['accept-encoding'], representation);
    const tags = headers['if-none-match'];
    const status = tags !== undefined && namesTag(tags, formTag(representation.etag, coding)) ? 304 : 200;
    const head = heads.get(answer)?.get(kindOf(coding, status));
    if (head === undefined || headRefusal(request) !== undefined) return undefined;
    const body = status === 200 && request.method === 'GET' ? bytes : undefined;
    return { request, response, target, answer, status, head, body };
  }

  function send(ready: ReadyAnswer, startedAt: number, counted?: CountedRequest): void {
    const { request, response, target, answer, status, head, body } = ready;
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
        durationMs: clock.now() - now,
        bytes: body?.length ?? 0,
        cache: 'HIT',
        ...(response.hasLeft ? {} : { aborted: true }),
      });
    if (response.hasLeft) log();
    else response.once('close', log);
  }
}

/** A request that can be answered from memory, and the parts of its answer. */
interface ReadyAnswer {
  readonly request: IncomingMessage;
  readonly response: ReadyResponse;
  readonly target: Target;
  readonly answer: StoredAnswer;
  readonly status: 200 | 304;
  readonly head: ReadyHead;
  /** Undefined for an answer without one. */
  readonly body: Buffer | undefined;
}

/** A read on a connection that stays open, with nothing unusual about it. */
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
 * False when the client has gone, or when a drain has begun to close its connection. A response that waits for an earlier
 * one of its connection has no socket yet.
 */
function maySendReady(response: ServerResponse): boolean {
  return !response.destroyed && response.socket?.writable !== false && !response.hasHeader('Connection');
}

/** The kinds of one answer that have heads of their own. */
function kindOf(coding: Coding, status: number): string {
  return status === 304 ? UNCHANGED[coding] : coding;
}

const UNCHANGED: Readonly<Record<Coding, string>> = {
  br: 'br, unchanged',
  gzip: 'gzip, unchanged',
  identity: 'identity, unchanged',
};

/** The head of an answer, cut where its values change with the request. */
interface ReadyHead {
  readonly toId: string;
  readonly toLimits: string;
  readonly toAge: string;
  readonly toDate: string;
  readonly rest: string;
}

const HEAD =
  /^(?<toId>.*?\r\nX-Request-Id: )[^\r]*(?<toLimits>\r\n.*?)(?<toAge>X-Cache: HIT\r\nAge: )\d+(?<toDate>\r\n.*?\r\nDate: )[^\r]*(?<rest>\r\n.*)$/s;
const LIMIT_LINES = /^RateLimit-.*\r\n/gm;

/** Cuts heads of cache hits. Undefined for any other head. */
function headReader(): (text: string) => ReadyHead | undefined {
  // All heads of a service begin and end alike, so these parts are held once.
  const alike = new Map<string, string>();
  const held = (text: string) => {
    const before = alike.get(text);
    if (before !== undefined) return before;
    const own = owned(text);
    alike.set(own, own);
    return own;
  };
  return text => {
    const { toId, toLimits, toAge, toDate, rest } = HEAD.exec(text)?.groups ?? {};
    if (toId === undefined || toLimits === undefined || toAge === undefined) return undefined;
    if (toDate === undefined || rest === undefined) return undefined;
    return {
      toId: held(toId),
      toLimits: held(toLimits.replace(LIMIT_LINES, '')),
      toAge: held(toAge),
      toDate: owned(toDate),
      rest: held(rest),
    };
  };
}

/** A copy of a part of a text, which would otherwise keep all of it in memory. */
function owned(part: string): string {
  return Buffer.from(part, 'latin1').toString('latin1');
}

function limitLines(counted: CountedRequest | undefined): string {
  if (counted === undefined) return '';
  return RATE_LIMIT_HEADERS.map((name, place) => `${name}: ${counted.values[place]}\r\n`).join('');
}

/** Dates in the form of HTTP, made once per second. */
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
