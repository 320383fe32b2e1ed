import { randomUUID } from 'node:crypto';
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

/** Takes over the caller's X-Request-Id when it is harmless, else makes one; answers it and logs with it. */
export function requestId(log: Logger): Middleware {
  return (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    const id = typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
    ctx.state.requestId = id;
    ctx.state.log = () => log.child({ requestId: id });
    ctx.set('X-Request-Id', id);
    return next();
  };
}
