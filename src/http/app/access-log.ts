import type { OutgoingHttpHeader } from 'node:http';
import type { Middleware } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import { hiddenBearerIds, type Logger } from '../../lib/logger.ts';

const SECRET_NAME = /(?:key|token|secret|password|signature)$/;
const LONGEST_TARGET = 2048;
/** Status for a client that disconnected before the response. Source: nginx, "ngx_http_core_module". */
const CLIENT_CLOSED_REQUEST = 499;
/** User and password in a target in absolute form. */
const USER_INFO = /^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i;
/** Names that are not text of a person. */
const PLAIN_NAME = /^[\w.[\]-]*$/;
const NONE: ReadonlySet<string> = new Set();
const ESCAPED = /%[0-9a-f]{2}/i;

/** Requests to log. `errors`: those with a status of 400 and above, or without a response. */
export type LoggedRequests = 'all' | 'errors' | 'none';

/** Line of the access log, without header values and secrets. */
interface RequestLine {
  readonly requestId: string;
  readonly method: string | undefined;
  /** Result of `loggedTarget`. */
  readonly path: string;
  readonly operationId: string | undefined;
  /** Id of the API key. Absent without a valid one. */
  readonly keyId?: string | undefined;
  /** Id of the member who is signed in to the dashboard. */
  readonly memberId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  /** Length of the body. */
  readonly bytes: number;
  readonly cache: OutgoingHttpHeader | undefined;
  /** Present when the connection broke before the response was fully sent. */
  readonly aborted?: true;
}

/** Access log of one service. */
export interface AccessLog {
  /** True when responses with this status are logged. */
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

/** Logs each request when its response has been sent or its connection broke. */
export function logRequests(access: AccessLog, clock: Clock): Middleware {
  return (ctx, next) => {
    if (!access.covers(CLIENT_CLOSED_REQUEST)) return next();
    const startedAt = clock.now();
    const { method, url = '' } = ctx.req;
    ctx.res.once('close', () => {
      const { operationId, requestId, loggedParameters, caller } = ctx.state;
      const hasBody = method !== 'HEAD' && ctx.status !== 304 && ctx.status !== 204;
      access.write({
        requestId,
        method,
        path: loggedTarget(url, loggedParameters),
        operationId,
        ...caller,
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
 * Masks secrets and personal data in a request target for the log: session ids, keys, users, and the values of all query
 * parameters except those that may be shown (Decision 277). The result is at most 2 kB long.
 */
export function loggedTarget(target: string, shown: ReadonlySet<string> = NONE): string {
  return masked(withoutQueryValues(target.replace(USER_INFO, '$1***@'), shown));
}

function masked(target: string): string {
  return target
    .split(/([/?&=])/)
    .map(part => {
      const text = ESCAPED.test(part) ? decoded(part) : part;
      const hidden = hiddenBearerIds(text);
      return hidden === text ? part : hidden;
    })
    .join('');
}

/** Decodes escapes, because a router also reads %63s_ as cs_. */
function decoded(part: string): string {
  try {
    return encodeURI(decodeURIComponent(part));
  } catch {
    return part;
  }
}

function withoutQueryValues(target: string, shown: ReadonlySet<string>): string {
  const start = target.indexOf('?');
  if (start === -1) return target.slice(0, LONGEST_TARGET);
  const pairs = target.slice(start + 1, start + 1 + LONGEST_TARGET).split('&');
  const query = pairs.map(pair => loggedPair(pair, shown));
  return `${target.slice(0, start)}?${query.join('&')}`.slice(0, LONGEST_TARGET);
}

function loggedPair(pair: string, shown: ReadonlySet<string>): string {
  const [written = ''] = pair.split('=', 1);
  const name = parameterName(written);
  if (name !== undefined && shown.has(name) && !isSecret(name)) return pair;
  const loggedName = name !== undefined && PLAIN_NAME.test(name) ? written : '***';
  return written === pair ? loggedName : `${loggedName}=***`;
}

/** Undefined for a name that cannot be decoded. */
function parameterName(written: string): string | undefined {
  try {
    return decodeURIComponent(written);
  } catch {
    return undefined;
  }
}

function isSecret(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replaceAll(/[^a-z]/g, ''));
}
