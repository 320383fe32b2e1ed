import type { Context, Middleware } from 'koa';
import type { Logger } from '../../lib/logger.ts';
import { Unavailable } from '../../lib/unavailable.ts';
import { type FormatError, HttpError, unavailableError } from '../errors.ts';
import { pathOf } from './request-target.ts';

const DEEPEST_CAUSE = 5;
const INTERNAL = new HttpError(500, 'Internal server error');
/** Headers of a body that a failed response may already have set. */
const BODY_HEADERS = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Transfer-Encoding',
  'ETag',
  'Last-Modified',
  'X-Cache',
  'Age',
];

/**
 * Converts errors of later middleware to JSON responses: an HttpError as it specifies, `Unavailable` to a 503 with
 * `Retry-After`, anything else to a 500. Causes are only logged. A request without a response becomes a 404. Every
 * error has `Cache-Control: no-store`.
 */
export function errorAnswers(formatError: FormatError): Middleware {
  return async (ctx, next) => {
    try {
      await next();
      if (isUnanswered(ctx)) throw new HttpError(404, 'Not found');
      if (ctx.status >= 400 && !ctx.res.hasHeader('Cache-Control')) ctx.set('Cache-Control', 'no-store');
    } catch (error) {
      answer(ctx, error, formatError);
    }
  };
}

/** Codes of connections that the client has closed or reset. */
const CLOSED_BY_CLIENT: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'];

/**
 * Logs an error of sending an answer. A client that went away is no fault of ours: the access log says `aborted`, and a
 * proxy that gives up its health checks would fill the log with stacks.
 */
export function logUnsent(log: Logger, message: string): (error: unknown) => void {
  return error => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (CLOSED_BY_CLIENT.includes(code)) log.debug({ code }, message);
    else log.warn({ err: error }, message);
  };
}

/** True for a request without a response. Koa starts every response at 404 without a body. */
export function isUnanswered({ status, body }: Context): boolean {
  return status === 404 && (body === undefined || body === null);
}

function answer(ctx: Context, error: unknown, formatError: FormatError): void {
  const { log } = ctx.state;
  const shown = shownOf(error);
  if (shown === INTERNAL) log().error({ err: error }, 'request failed');
  else if (shown.status >= 500)
    log().warn({ status: shown.status, because: causes(error) }, 'request could not be served');
  if (ctx.headerSent) {
    ctx.res.destroy(); // part of the response is sent: only a broken connection tells the client that the rest is missing
    return;
  }
  for (const name of BODY_HEADERS) ctx.remove(name);
  ctx.status = shown.status;
  ctx.body = worded(ctx, shown, formatError);
  ctx.type = 'application/json; charset=utf-8';
  ctx.set({ 'Cache-Control': 'no-store', ...shown.headers });
}

function shownOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  return error instanceof Unavailable ? unavailableError(error) : INTERNAL;
}

/** Messages of an error and its causes, without stacks: an outage is not a bug of this program. */
function causes(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return [];
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return [error.message, ...inner.flatMap(cause => causes(cause, depth + 1))].filter(text => text !== '');
}

function worded(ctx: Context, { status, message, code, param }: HttpError, formatError: FormatError): string {
  const { requestId, log } = ctx.state;
  try {
    return JSON.stringify(
      formatError(status, message, { path: pathOf(ctx.req.url ?? ''), requestId, code, param }),
    );
  } catch (error) {
    log().error({ err: error }, 'the body of an error could not be created');
    return JSON.stringify({ message });
  }
}
