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

/** One line a request, written when its answer has left or its connection broke. No header values, no secrets. */
export function accessLog(log: Logger, clock: Clock): Middleware {
  return (ctx, next) => {
    if (!log.isLevelEnabled('info')) return next();
    const startedAt = clock.now();
    const { method, url = '' } = ctx.req;
    ctx.res.once('close', () => {
      const { operationId, requestId } = ctx.state;
      const hasBody = method !== 'HEAD' && ctx.status !== 304 && ctx.status !== 204;
      log.info(
        {
          requestId,
          method,
          path: withoutSecrets(url),
          operationId,
          status: ctx.res.headersSent ? ctx.status : CLIENT_CLOSED_REQUEST,
          durationMs: clock.now() - startedAt,
          bytes: hasBody ? (ctx.response.length ?? 0) : 0,
          cache: ctx.res.getHeader('X-Cache'),
          ...(ctx.res.writableFinished ? {} : { aborted: true }),
        },
        'request',
      );
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
