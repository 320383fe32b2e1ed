import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { HttpError } from './errors.ts';

/** Origin form (RFC 9112, 3.2.1) in visible ASCII, without a fragment. */
const ORIGIN_FORM = /^\/[\x21\x22\x24-\x7e]*$/;

/**
 * Refuses with 400 what would surprise a router or a store further in: a target that is not a path, a broken percent
 * escape or invalid UTF-8, a NUL byte, an HTTP/1.1 request without a host, and a request without a version.
 */
export const checkTarget: Middleware = (ctx, next) => {
  const fault = faultOf(ctx.req);
  if (fault !== undefined) throw new HttpError(400, fault);
  return next();
};

/** The target up to its query, whatever it looks like. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

function faultOf({ url: target = '', headers, httpVersion }: IncomingMessage): string | undefined {
  if (httpVersion.startsWith('0')) return 'The request names no version of HTTP';
  if (!ORIGIN_FORM.test(target)) return 'The request target must be a path, percent-encoded';
  if (httpVersion === '1.1' && headers.host === undefined) return 'The Host header is missing';
  if (!target.includes('%')) return undefined;
  try {
    return decodeURIComponent(target).includes('\0') ? 'The request target holds a NUL byte' : undefined;
  } catch {
    return 'The request target holds a malformed percent escape';
  }
}
