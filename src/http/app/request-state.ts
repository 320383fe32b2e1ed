import { randomInt, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { Logger } from '../../lib/logger.ts';
import type { Client } from '../client-address.ts';

declare module 'koa' {
  /** What the standard middleware knows of a request and what routes tell it. */
  interface DefaultState {
    /** Set before everything else; answered as X-Request-Id. */
    requestId: string;
    /** Makes the logger that writes with the request id; most requests need none. */
    log: () => Logger;
    /** Who asks, as far as the trusted proxies tell. */
    client: Client;
    /** Set by the contract mount: the label of metrics and of the access log. */
    operationId?: string;
  }
}

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** Answers and logs with the request's id, and forbids guessing at the type of any answer. */
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
 * Ids of one process differ in their last 12 digits only, and of those the first nine change with every 4,096th: digits that
 * are written anew for each request cost more than its look-up in the cache.
 */
const PROCESS_PART = randomUUID().slice(0, -12);
const LAST_DIGITS = Array.from({ length: 4096 }, (_, number) => number.toString(16).padStart(3, '0'));
let block = randomInt(2 ** 35);
let blockPart = '';
let used = LAST_DIGITS.length;

/** The caller's X-Request-Id where it is harmless, else a new one. */
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
