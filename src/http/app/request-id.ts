import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Logger } from '../../lib/logger.ts';

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
