import type { Middleware } from 'koa';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';

const SECRET_NAME = /(?:key|token|secret|password|signature)$/;
const LONGEST_TARGET = 2048;

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
          status: ctx.status,
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

/** A request target fit for a log: values of query parameters that are named like a secret are masked, and it ends at 2 kB. */
export function withoutSecrets(target: string): string {
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
