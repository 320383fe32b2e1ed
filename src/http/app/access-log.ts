import type { OutgoingHttpHeader } from 'node:http';
import type { Middleware } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';

const SECRET_NAME = /(?:key|token|secret|password|signature)$/;
const LONGEST_TARGET = 2048;
/** Status of a request whose client hung up before it was answered. Source: nginx, "ngx_http_core_module". */
const CLIENT_CLOSED_REQUEST = 499;
/** Ids and keys that alone let their holder do something: a few characters are enough to tell them apart. */
const BEARER = /\b(cs_|tg_live_|tg_test_|whsec_)([A-Za-z0-9]{0,4})[A-Za-z0-9+/=_-]*/g;
/** User and password of a target in absolute form. */
const USER_INFO = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i;
const ESCAPED = /%[0-9a-f]{2}/i;

/** Requests that the access log has a line for. `errors`: those answered with 400 and above, or not at all. */
export type LoggedRequests = 'all' | 'errors' | 'none';

/** One line of the access log. No header values, no secrets. */
export interface RequestLine {
  readonly requestId: string;
  readonly method: string | undefined;
  /** As `withoutSecrets` gives it. */
  readonly path: string;
  readonly operationId: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  /** Length of the body. */
  readonly bytes: number;
  readonly cache: OutgoingHttpHeader | undefined;
  /** Present when the connection broke before the answer had left. */
  readonly aborted?: true;
}

/** Access log of one service. */
export interface AccessLog {
  /** True when an answer with this status has a line. */
  covers(status: number): boolean;
  write(line: RequestLine): void;
}

/** Writes lines at level `info`. */
export function accessLog(log: Logger, requests: LoggedRequests): AccessLog {
  const leastStatus = { all: 0, errors: 400, none: Number.POSITIVE_INFINITY }[requests];
  const covers = (status: number) => status >= leastStatus && log.isLevelEnabled('info');
  return {
    covers,
    write: line => {
      if (covers(line.status)) log.info(line, 'request');
    },
  };
}

/** Logs each request when its answer has left or its connection broke. */
export function logRequests(access: AccessLog, clock: Clock): Middleware {
  return (ctx, next) => {
    if (!access.covers(CLIENT_CLOSED_REQUEST)) return next();
    const startedAt = clock.now();
    const { method, url = '' } = ctx.req;
    ctx.res.once('close', () => {
      const { operationId, requestId } = ctx.state;
      const hasBody = method !== 'HEAD' && ctx.status !== 304 && ctx.status !== 204;
      access.write({
        requestId,
        method,
        path: withoutSecrets(url),
        operationId,
        status: ctx.res.headersSent ? ctx.status : CLIENT_CLOSED_REQUEST,
        durationMs: clock.now() - startedAt,
        bytes: hasBody ? (ctx.response.length ?? 0) : 0,
        cache: ctx.res.getHeader('X-Cache'),
        ...(ctx.res.writableFinished ? {} : { aborted: true }),
      });
    });
    return next();
  };
}

/**
 * A request target fit for a log, of 2 kB at most. Session ids, keys, users and values of query parameters that are named
 * like a secret are masked.
 */
export function withoutSecrets(target: string): string {
  return masked(withoutNamedSecrets(target.replace(USER_INFO, '$1***@')));
}

function masked(target: string): string {
  return target
    .split(/([/?&=])/)
    .map(part => {
      const text = ESCAPED.test(part) ? decoded(part) : part;
      const hidden = text.replace(BEARER, '$1$2***');
      return hidden === text ? part : hidden;
    })
    .join('');
}

/** Unescaped, because a router reads %63s_ as cs_ too. */
function decoded(part: string): string {
  try {
    return encodeURI(decodeURIComponent(part));
  } catch {
    return part;
  }
}

function withoutNamedSecrets(target: string): string {
  const start = target.indexOf('?');
  if (start === -1) return target.slice(0, LONGEST_TARGET);
  const pairs = target.slice(start + 1, start + 1 + LONGEST_TARGET).split('&');
  const query = pairs.map(pair => {
    const [name = ''] = pair.split('=', 1);
    return name !== pair && isSecret(name) ? `${name}=***` : pair;
  });
  return `${target.slice(0, start)}?${query.join('&')}`.slice(0, LONGEST_TARGET);
}

function isSecret(name: string): boolean {
  try {
    return SECRET_NAME.test(
      decodeURIComponent(name)
        .toLowerCase()
        .replaceAll(/[^a-z]/g, ''),
    );
  } catch {
    return true; // a name that cannot be read cannot be judged
  }
}
