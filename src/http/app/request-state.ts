import { randomInt, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { Logger } from '../../lib/logger.ts';
import type { CountedClient } from '../../lib/request-counters.ts';
import type { Client } from '../client-address.ts';

declare module 'koa' {
  /** State of a request, set by the standard middleware and by routes. */
  interface DefaultState {
    /** Set first, and returned as X-Request-Id. */
    requestId: string;
    /** Creates the logger with the request id. Most requests need none. */
    log: () => Logger;
    /** The client, as determined through the trusted proxies. */
    client: Client;
    /** Set by the rate limit; undefined for a client that is not counted. */
    countedClient?: CountedClient | undefined;
    /** Set by the contract mount: label in metrics and in the access log. */
    operationId?: string | undefined;
    /** True for a health check, which is not counted among the requests of clients. */
    isHealthCheck?: boolean;
    /** Set with the credential of the request, for the access log. */
    caller?:
      | { readonly keyId: string; readonly organizationId: string }
      | { readonly memberId: string; readonly organizationId: string }
      | undefined;
    /** Set by the contract mount: query parameters whose values the access log shows. */
    loggedParameters?: ReadonlySet<string> | undefined;
  }
}

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** Adds the request's id to responses and log lines, and forbids MIME type sniffing. */
export function requestId(log: Logger): Middleware {
  return (ctx, next) => {
    const id = requestIdOf(ctx.req);
    ctx.state.requestId = id;
    ctx.state.log = () => log.child({ requestId: id });
    ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
    ctx.res.setHeader('X-Request-Id', id);
    return next();
  };
}

/**
 * Prefix of all generated ids of this process. Only the last 12 digits vary. The first nine of these change once per
 * 4,096 ids, because formatting all digits per request would cost more than the cache look-up.
 */
const PROCESS_PART = randomUUID().slice(0, -12);
const LAST_DIGITS = Array.from({ length: 4096 }, (_, number) => number.toString(16).padStart(3, '0'));
let block = randomInt(2 ** 35);
let blockPart = '';
let used = LAST_DIGITS.length;

/** Returns the caller's X-Request-Id if it is valid, else a new id. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : nextId();
}

function nextId(): string {
  if (used === LAST_DIGITS.length) {
    block += 1;
    blockPart = PROCESS_PART + block.toString(16).padStart(9, '0');
    used = 0;
  }
  const digits = LAST_DIGITS[used] ?? '';
  used += 1;
  return blockPart + digits;
}

/** Signal that aborts when the client disconnects, or after the response has been sent. */
export function closeSignal({ res }: Pick<Context, 'res'>): AbortSignal {
  const closed = new AbortController();
  if (res.closed) closed.abort();
  else res.once('close', () => closed.abort());
  return closed.signal;
}
